package codegen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/codegen/wire"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// memoryAge is how long an answer that nobody asks for is kept.
const memoryAge = 30 * 24 * time.Hour

// memory is the file in the cache for the answer of a program to a request that
// reads the given inputs, and everything that the answer follows from is in its name.
func (f *Finder) memory(program string, request wire.Request, inputs string) (string, error) {
	cache, err := userdirs.Cache(f.programs.Getenv)
	if err != nil {
		return "", err
	}
	id, err := safefs.Identity(program)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(struct {
		Program string
		Request wire.Request
		Inputs  string
		Headers []string
	}{id, request, inputs, headers(request)})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return filepath.Join(cache, "codegen", "answers", hex.EncodeToString(sum[:16])+".json"), nil
}

// headers is the content of the files that the arguments name.
func headers(request wire.Request) []string {
	var contents []string
	for _, run := range request.Runs {
		for i, a := range run.Arguments {
			if a == "--go-header-file" && i+1 < len(run.Arguments) {
				text, err := safefs.ReadFile(run.Arguments[i+1])
				if err != nil {
					text = []byte(err.Error())
				}
				contents = append(contents, string(text))
			}
		}
	}
	return contents
}

// recall returns the files of an answer given before.
func recall(memory string) ([]wire.File, bool) {
	text, err := os.ReadFile(memory)
	if err != nil {
		return nil, false
	}
	var files []wire.File
	if json.Unmarshal(text, &files) != nil {
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(memory, now, now) // for the next prune
	return files, true
}

// keep writes an answer down, and removes old ones. Where that fails the program
// is asked again the next time.
func keep(memory string, files []wire.File) {
	text, err := json.Marshal(files)
	dir := filepath.Dir(memory)
	if err != nil || os.MkdirAll(dir, 0o755) != nil {
		return
	}
	temp, err := os.CreateTemp(dir, ".answer-*")
	if err != nil {
		return
	}
	_, err = temp.Write(text)
	if closed := temp.Close(); err != nil || closed != nil || os.Rename(temp.Name(), memory) != nil {
		_ = os.Remove(temp.Name())
		return
	}
	prune(dir)
}

// memoryName matches the names of answers, and of those that a killed command has begun. The user may have made any
// folder the cache, and other files lie there then.
var memoryName = lazy.Regexp(`^([0-9a-f]{32}\.json|\.answer-[0-9]+)$`)

func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > memoryAge && memoryName().MatchString(e.Name()) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

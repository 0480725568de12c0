package typecheck

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// keyOf returns the memory's name for these module texts. It covers all else that compiled packages depend on: the
// toolchain, its settings, and the variables of Go and of C compilers.
func keyOf(environ, texts []string) string {
	h := sha256.New()
	fmt.Fprintln(h, "1", gocommand.Toolchain())
	h.Write(gocommand.Written())
	variables := slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		if slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK"}, name) { // affects only running
			return true
		}
		return !strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "CGO_") && !slices.Contains([]string{"CC", "CXX", "PATH"}, name)
	})))
	fmt.Fprintf(h, "%q\n%q\n", variables, texts)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// recall reads the memory. An unreadable one is ignored.
func (e *exports) recall() {
	var last remembered
	data, err := os.ReadFile(e.memory)
	if err != nil || json.Unmarshal(data, &last) != nil || last.Files == nil {
		return
	}
	e.remembered = last
	if info, err := os.Stat(e.memory); err == nil && time.Since(info.ModTime()) > touchInterval {
		now := time.Now()
		_ = os.Chtimes(e.memory, now, now) // so that keep does not delete it; failing is harmless
	}
}

// keep writes the memory and deletes memories that no check has used for long. Failing is harmless.
func (e *exports) keep() {
	if e.memory == "" {
		return
	}
	data, err := json.Marshal(e.remembered)
	folder := filepath.Dir(e.memory)
	if err != nil || os.MkdirAll(folder, 0o755) != nil {
		return
	}
	_ = safefs.WriteCache(e.memory, data, 0o644)
	entries, _ := os.ReadDir(folder) // an unreadable folder keeps its memories
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && memoryName().MatchString(entry.Name()) && time.Since(info.ModTime()) > maxAge {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}

const (
	touchInterval = 24 * time.Hour      // a younger memory file need not be touched
	maxAge        = 30 * 24 * time.Hour // unused memories are deleted
)

// memoryName matches the file names of memories. The user may choose any folder as the cache, so it may hold other
// files.
var memoryName = lazy.Regexp(`^[0-9a-f]{32}\.json$`)

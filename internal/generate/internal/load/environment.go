package load

import (
	"bufio"
	"bytes"
	"context"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/generate/internal/inputs"
	"github.com/slipway-dev/slipway/internal/gocommand"
)

// environment is the go command's configuration as it would see it: variables,
// then the file that go env -w writes, then defaults.
type environment struct {
	dir      string // where the go command would run
	inputs   *inputs.Set
	file     map[string]string
	goRoot   func() string
	release  func() string
	modCache func() string
}

func newEnvironment(inputs *inputs.Set, dir string) *environment {
	e := &environment{inputs: inputs, dir: dir, file: readEnvFile(inputs)}
	e.goRoot = sync.OnceValue(func() string { return e.switched(filepath.Clean(e.findGoroot())) })
	e.release = sync.OnceValue(e.findRelease)
	e.modCache = sync.OnceValue(e.findModcache)
	return e
}

func readEnvFile(inputs *inputs.Set) map[string]string {
	path := os.Getenv("GOENV")
	if path == "off" {
		return nil
	}
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil
		}
		path = filepath.Join(dir, "go", "env")
	}
	return readVariables(inputs, path)
}

// readVariables reads a file of the form that go env -w writes.
func readVariables(inputs *inputs.Set, path string) map[string]string {
	data, err := inputs.ReadFile(path)
	if err != nil {
		return nil // there seldom is one
	}
	vars := make(map[string]string)
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), "="); found {
			vars[name] = value
		}
	}
	return vars
}

func (e *environment) get(name string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return e.file[name]
}

// modcache is the folder of downloaded modules.
func (e *environment) modcache() string { return e.modCache() }

func (e *environment) findModcache() string {
	if dir := e.get("GOMODCACHE"); dir != "" {
		return filepath.Clean(dir) // prefixes of paths are compared with it
	}
	gopath := e.get("GOPATH")
	if gopath == "" {
		gopath = build.Default.GOPATH
	}
	first, _, _ := strings.Cut(gopath, string(filepath.ListSeparator))
	return filepath.Join(first, "pkg", "mod")
}

// flag is the value of a flag in GOFLAGS, like "vendor" of -mod=vendor.
func (e *environment) flag(name string) string {
	value := ""
	for _, field := range quotedFields(e.get("GOFLAGS")) {
		key, v, _ := strings.Cut(strings.TrimLeft(field, "-"), "=")
		if key == name {
			value = v
		}
	}
	return value
}

// quotedFields splits text at spaces that are not between quotes; a quote counts at
// the beginning of a field only.
func quotedFields(text string) []string {
	var fields []string
	for text = strings.TrimLeft(text, " \t\r\n"); text != ""; text = strings.TrimLeft(text, " \t\r\n") {
		var field string
		if quote := text[0]; quote == '\'' || quote == '"' {
			field, text, _ = strings.Cut(text[1:], string(quote))
		} else if end := strings.IndexAny(text, " \t\r\n"); end >= 0 {
			field, text = text[:end], text[end:]
		} else {
			field, text = text, ""
		}
		fields = append(fields, field)
	}
	return fields
}

// goroot is the folder of the Go distribution that holds the standard library.
func (e *environment) goroot() string { return e.goRoot() }

func (e *environment) findGoroot() string {
	if dir := e.get("GOROOT"); dir != "" {
		return dir
	}
	program, err := exec.LookPath("go")
	if err != nil {
		return build.Default.GOROOT
	}
	if resolved, err := filepath.EvalSymlinks(program); err == nil {
		program = resolved
	}
	if dir := filepath.Dir(filepath.Dir(program)); e.isDir(filepath.Join(dir, "src", "fmt")) {
		return dir
	}
	e.inputs.Opaque()
	// A wrapper script stands for the go command; only the command itself knows.
	var out bytes.Buffer
	if err := (gocommand.Command{Dir: e.dir, Args: []string{"env", "GOROOT"}, Stdout: &out}).Run(context.Background()); err != nil {
		return build.Default.GOROOT
	}
	return strings.TrimSpace(out.String())
}

func (e *environment) isDir(path string) bool {
	info, err := e.inputs.Stat(path)
	return err == nil && info.IsDir()
}

func (e *environment) isFile(path string) bool {
	info, err := e.inputs.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

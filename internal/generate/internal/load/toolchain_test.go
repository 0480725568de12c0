package load

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestReleaseTags: files may ask for a release of the go command that will compile them, which is not the one that this
// program was made with.
func TestReleaseTags(t *testing.T) {
	known := []string{"go1.1", "go1.2"}
	for name, c := range map[string]struct {
		version, setting, goMod, goWork string
		last                            string // of the tags
		switched                        bool   // to a distribution in the module cache
	}{
		"older":                 {version: "go1.20.3\ntime 2026", goMod: "go 1.20", last: "go1.20"},
		"newer":                 {version: "go1.99", goMod: "go 1.20", last: "go1.99"},
		"in development":        {version: "devel go1.99-abcdef", goMod: "go 1.20", last: "go1.2"},
		"no version":            {goMod: "go 1.20", setting: "local", last: "go1.2"},
		"asked for":             {version: "go1.21.1", goMod: "go 1.77.1", last: "go1.77", switched: true},
		"asked for by name":     {version: "go1.21.1", goMod: "go 1.21\ntoolchain go1.77.1", last: "go1.77", switched: true},
		"asked for in vain":     {version: "go1.21.1", goMod: "go 1.77.1", setting: "local", last: "go1.21"},
		"asked for, not there":  {version: "go1.21.1", goMod: "go 1.78.1", last: "go1.78"},
		"asked for by go.work":  {version: "go1.21.1", goMod: "go 1.21", goWork: "go 1.77.1", last: "go1.77", switched: true},
		"go.work needs no more": {version: "go1.21.1", goMod: "go 1.77.1", goWork: "go 1.21", last: "go1.21"},
		"set":                   {version: "go1.21.1", goMod: "go 1.99", setting: "go1.77.1", last: "go1.77", switched: true},
		"set to an older one":   {version: "go1.80.1", goMod: "go 1.77", setting: "go1.77.1", last: "go1.77", switched: true},
		"set at least":          {version: "go1.21.1", goMod: "go 1.21", setting: "go1.77.1+auto", last: "go1.77", switched: true},
		"set and asked for":     {version: "go1.21.1", goMod: "go 1.77.1", setting: "local+path", last: "go1.77", switched: true},
	} {
		t.Run(name, func(t *testing.T) {
			goroot, project, cache := t.TempDir(), t.TempDir(), t.TempDir()
			put(t, filepath.Join(goroot, "VERSION"), c.version)
			other := filepath.Join(cache, "golang.org", fmt.Sprintf("toolchain@v0.0.1-go1.77.1.%s-%s", runtime.GOOS, runtime.GOARCH))
			put(t, filepath.Join(other, "src", "fmt", "print.go"), "package fmt")
			put(t, filepath.Join(other, "VERSION"), "go1.77.1")
			put(t, filepath.Join(project, "go.mod"), "module m\n"+c.goMod+"\n")
			if c.goWork != "" {
				put(t, filepath.Join(project, "go.work"), c.goWork+"\nuse .\n")
			}
			for variable, value := range map[string]string{"GOROOT": goroot, "GOMODCACHE": cache, "GOTOOLCHAIN": c.setting, "GOENV": "off", "GOWORK": ""} {
				t.Setenv(variable, value)
			}
			e := newEnvironment(nil, project)
			tags := e.releaseTags(known)
			if last := tags[len(tags)-1]; last != c.last || !slices.Contains(tags, "go1.1") {
				t.Errorf("tags up to %s, want %s", last, c.last)
			}
			if switched := e.goroot() == other; switched != c.switched {
				t.Errorf("GOROOT is %s", e.goroot())
			}
		})
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

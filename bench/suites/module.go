package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const controllerRuntime = "sigs.k8s.io/controller-runtime"

// module is a copy of controller-runtime's sources that can be written.
type module struct{ dir string }

// copyModule copies the version that this module pins: in the module cache test binaries cannot write what they write.
func copyModule(ctx context.Context, dir string) (module, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-json", controllerRuntime).Output()
	if err != nil {
		return module{}, fmt.Errorf("find controller-runtime: %w", err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return module{}, fmt.Errorf("find controller-runtime: %w", err)
	}
	m := module{filepath.Join(dir, "controller-runtime")}
	if err := os.CopyFS(m.dir, os.DirFS(found.Dir)); err != nil {
		return module{}, fmt.Errorf("copy controller-runtime: %w", err)
	}
	return m, nil
}

// suite is a package's compiled tests.
type suite struct {
	binary string
	dir    string // where they run
	ginkgo bool   // they take its flags
}

// compile builds the tests of a package below pkg/.
func (m module) compile(ctx context.Context, pkg string) (suite, error) {
	s := suite{
		dir:    filepath.Join(m.dir, "pkg", filepath.FromSlash(pkg)),
		binary: filepath.Join(m.dir, strings.ReplaceAll(pkg, "/", "-")+".test"),
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", s.binary, ".")
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		return s, fmt.Errorf("compile the tests of %s: %w\n%s", pkg, err, out)
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "*_test.go"))
	if err != nil {
		return s, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return s, err
		}
		s.ginkgo = s.ginkgo || strings.Contains(string(text), `"github.com/onsi/ginkgo/v2"`)
	}
	return s, nil
}

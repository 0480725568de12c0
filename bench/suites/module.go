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

// module is a copy of a project's sources that can be written.
type module struct{ dir string }

// copyModule copies a version into a folder of dir: in the module cache test binaries cannot write what they write.
func copyModule(ctx context.Context, dir string, p project) (module, error) {
	source, err := p.source(ctx)
	if err != nil {
		return module{}, fmt.Errorf("find %s: %w", p.module, err)
	}
	m := module{filepath.Join(dir, p.name)}
	if err := os.CopyFS(m.dir, os.DirFS(source)); err != nil {
		return module{}, fmt.Errorf("copy %s: %w", p.module, err)
	}
	return m, nil
}

// source is the folder of the module cache with the project's version, which is downloaded if need be.
func (p project) source(ctx context.Context) (string, error) {
	command := []string{"list", "-m", "-json", p.module}
	if strings.Contains(p.module, "@") {
		command = []string{"mod", "download", "-json", p.module}
	}
	out, err := exec.CommandContext(ctx, "go", command...).Output()
	if err != nil {
		return "", err
	}
	var found struct{ Dir string }
	err = json.Unmarshal(out, &found)
	return found.Dir, err
}

// suite is a package's compiled tests.
type suite struct {
	binary string
	dir    string // where they run
	ginkgo bool   // they take its flags
}

// compile builds the tests of a package.
func (m module) compile(ctx context.Context, pkg string) (suite, error) {
	s := suite{
		dir:    filepath.Join(m.dir, filepath.FromSlash(pkg)),
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

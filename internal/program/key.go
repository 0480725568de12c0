package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/gocommand"
)

// key names what is built from src for this machine: a hash over the Go that compiles, and the content of the sources
// or else their version. Settings of the user have no part in it, as they have none in the build.
func (src source) key(p *product) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, src.compiler(), runtime.GOOS, runtime.GOARCH)
	if p.pin != "" {
		fmt.Fprintln(h, generatorModule, p.pin)
	}
	if src.dir == "" {
		fmt.Fprintln(h, p.module, p.all(), src.version)
		return hex.EncodeToString(h.Sum(nil)[:16]), nil
	}
	files, err := p.sourceFiles(src.dir)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if err := hashFile(h, src.dir, file); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// compiler is the Go that compiles src.
func (src source) compiler() string {
	if src.toolchain != "" {
		return src.toolchain
	}
	return gocommand.Toolchain()
}

// sourceFiles lists what the program is made of, relative to dir and sorted: go.mod, go.sum,
// Go files that are not tests, and what those embed. Nothing in the folders apart is.
func sourceFiles(dir string, apart ...string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (notSource(path, d.Name()) || isApart(dir, path, apart)):
			return filepath.SkipDir
		case d.IsDir() || !isSource(d.Name()):
			return nil
		}
		embedded, err := embeds(path)
		files = append(append(files, path), embedded...)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range files {
		if files[i], err = filepath.Rel(dir, files[i]); err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// sourceFiles lists what the product is made of, in the module's folder dir.
func (p *product) sourceFiles(dir string) ([]string, error) {
	if len(p.folders) == 0 {
		return sourceFiles(dir, p.apart...)
	}
	files := []string{"go.mod", "go.sum"}
	for _, folder := range p.folders {
		below, err := sourceFiles(filepath.Join(dir, filepath.FromSlash(folder)))
		if err != nil {
			return nil, err
		}
		for _, f := range below {
			files = append(files, filepath.Join(filepath.FromSlash(folder), f))
		}
	}
	return files, nil
}

func isApart(dir, path string, apart []string) bool {
	return slices.ContainsFunc(apart, func(folder string) bool { return path == filepath.Join(dir, filepath.FromSlash(folder)) })
}

// notSource reports whether the folder at path is none of the module's packages. A vendored one is compiled into them.
func notSource(path, name string) bool {
	return name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || isFile(filepath.Join(path, "go.mod"))
}

func isSource(name string) bool {
	return name == "go.mod" || name == "go.sum" || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// embeds lists the files that the go:embed directives of a Go file name.
func embeds(path string) ([]string, error) {
	if !strings.HasSuffix(path, ".go") {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for line := range bytes.Lines(text) {
		patterns, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("//go:embed "))
		if !ok {
			continue
		}
		for pattern := range strings.FieldsSeq(string(patterns)) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			found, err := filesBelow(filepath.Join(filepath.Dir(path), filepath.FromSlash(pattern)))
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
	}
	return files, nil
}

// filesBelow lists the files that match pattern, and those in folders that do.
func filesBelow(pattern string) ([]string, error) {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, match := range matches {
		err := filepath.WalkDir(match, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// hashFile adds the name, the length and the content of a file to h.
func hashFile(h io.Writer, dir, file string) error {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return err
	}
	fmt.Fprintln(h, filepath.ToSlash(file), len(text))
	_, err = h.Write(text)
	return err
}

package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// inputsOf is a hash over all that code generated for packages follows from,
// besides the request: their files, those of the packages that they import from
// modules that are being worked on, and the versions of all others. Two equal
// hashes mean that the generators read the same.
func inputsOf(loader *load.Loader, module string, packages []*load.Package) (string, error) {
	in := inputs{loader: loader, hash: sha256.New(), seen: make(map[string]bool), fixed: fixedFolders()}
	_, _ = fmt.Fprintln(in.hash, runtime.Version(), time.Now().UTC().Year(), os.Getenv("GOFLAGS"), os.Getenv("GOOS"), os.Getenv("GOARCH"))
	for _, name := range []string{"go.mod", "go.sum", "go.work", "go.work.sum", "vendor/modules.txt"} {
		for at := module; ; at = filepath.Dir(at) {
			if err := in.file(filepath.Join(at, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
			if filepath.Dir(at) == at {
				break
			}
		}
	}
	for _, p := range packages {
		if err := in.pkg(p); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(in.hash.Sum(nil)), nil
}

type inputs struct {
	loader *load.Loader
	hash   hash.Hash
	seen   map[string]bool // by folder
	fixed  []string
}

// fixedFolders hold what a version or the toolchain pins.
func fixedFolders() []string {
	context := build.Default
	folders := []string{filepath.Join(context.GOROOT, "src")}
	if cache := os.Getenv("GOMODCACHE"); cache != "" {
		return append(folders, cache)
	}
	return append(folders, filepath.Join(strings.Split(context.GOPATH, string(filepath.ListSeparator))[0], "pkg", "mod"))
}

func (in inputs) pinned(dir string) bool {
	for _, folder := range in.fixed {
		if rel, err := filepath.Rel(folder, dir); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// pkg adds the files of p and of what it imports. An import that is not found is
// the generators' to tell.
func (in inputs) pkg(p *load.Package) error {
	if in.seen[p.Dir] || in.pinned(p.Dir) {
		return nil
	}
	in.seen[p.Dir] = true
	for _, path := range p.GoFiles() {
		if err := in.file(path); err != nil {
			return err
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			continue // told by the loader
		}
		for _, spec := range syntax.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil || !strings.Contains(strings.Split(target, "/")[0], ".") && !strings.Contains(target, "/") {
				continue // the standard library's
			}
			imported, err := p.Import(target)
			if err != nil {
				continue
			}
			if err := in.pkg(imported); err != nil {
				return err
			}
		}
	}
	return nil
}

// file adds the name and the content of a file.
func (in inputs) file(path string) error {
	text, err := in.loader.ReadFile(path)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(in.hash, path, len(text))
	_, err = in.hash.Write(text)
	return err
}

package load

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/internal/report"
)

// importPackage returns the package of an import path.
func (l *Loader) importPackage(m *modules, path string) (*Package, error) {
	key := packageKey{m, path}
	l.mu.Lock()
	p := l.packages[key]
	l.mu.Unlock()
	if p != nil {
		return p, nil
	}
	dir, err := m.dir(path)
	if err != nil {
		return nil, err
	}
	return l.packageAt(m, path, dir), nil
}

// packageAt returns the package of a known folder. A root is the same package
// from wherever it is imported, also from another module.
func (l *Loader) packageAt(m *modules, path, dir string) *Package {
	key := packageKey{m, path}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.packages[key]; p != nil {
		return p
	}
	for _, p := range l.rootPackages {
		if p.Dir == dir && p.Path == path {
			l.packages[key] = p
			return p
		}
	}
	p := &Package{Path: path, Dir: dir, loader: l, modules: m}
	l.packages[key] = p
	return p
}

func (l *Loader) roots(ctx context.Context, patterns []string) ([]*Package, error) {
	dir, err := filepath.Abs(l.config.Dir)
	if err != nil {
		return nil, err
	}
	var roots []*Package
	for _, pattern := range patterns {
		matched, err := l.match(ctx, dir, pattern)
		if err != nil {
			return nil, err
		}
		roots = append(roots, matched...)
	}
	slices.SortFunc(roots, func(a, b *Package) int {
		return cmp.Or(strings.Compare(a.Dir, b.Dir), strings.Compare(a.Path, b.Path))
	})
	roots = slices.Compact(roots)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range roots {
		p.Root = true
	}
	l.rootPackages = roots
	return roots, nil
}

// match finds the packages that one pattern names.
func (l *Loader) match(ctx context.Context, dir, pattern string) ([]*Package, error) {
	start, below := strings.CutSuffix(filepath.ToSlash(pattern), "/...")
	if pattern == "..." {
		start, below = ".", true
	}
	start, err := l.folder(dir, pattern, start)
	if err != nil {
		return nil, err
	}
	if !l.env.isDir(start) {
		return nil, noPackages(pattern, "a folder or an import path, perhaps with /... at its end")
	}
	folders := []folder{{dir: start}}
	if below {
		folders = nil
		if err := l.walk(ctx, folder{dir: start, listed: true}, &folders); err != nil {
			return nil, err
		}
	}
	packages, err := l.packagesIn(folders)
	if err == nil && len(packages) == 0 && !below && !l.onlyTests(start) {
		err = noPackages(pattern, "a folder with Go files for this platform")
	}
	return packages, err
}

// onlyTests tells whether a folder without a package holds tests. The go command takes it for an empty package.
func (l *Loader) onlyTests(dir string) bool {
	entries, err := l.config.Inputs.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), "_test.go") })
}

func noPackages(pattern, hint string) error {
	return &report.Error{What: "no Go package", Where: pattern, Hint: hint}
}

// folder turns the part of a pattern before /... into an absolute path.
func (l *Loader) folder(dir, pattern, start string) (string, error) {
	switch {
	case filepath.IsAbs(start):
		return filepath.Clean(start), nil
	case strings.HasPrefix(start, "."):
		return filepath.Join(dir, filepath.FromSlash(start)), nil
	}
	m, err := l.modulesFor(dir)
	if err != nil {
		return "", err
	}
	if found := m.folderOf(start); found != "" {
		return found, nil
	}
	return "", noPackages(pattern, "a folder that begins with ./ or an import path of this module or its dependencies")
}

// folderOf is the folder of an import path even when it holds no package itself.
func (m *modules) folderOf(importPath string) string {
	if dir := m.search(importPath); dir != "" {
		return dir
	}
	for _, main := range m.mains {
		if rest, ok := strings.CutPrefix(importPath+"/", main.path+"/"); ok {
			return filepath.Join(main.dir, filepath.FromSlash(rest))
		}
	}
	for path, dir := range m.dirs {
		if rest, ok := strings.CutPrefix(importPath+"/", path+"/"); ok {
			return filepath.Join(dir, filepath.FromSlash(rest))
		}
	}
	return ""
}

// folder is a place that may hold a package. Folders that the go command passes
// over are not listed, but nested modules inside of them are.
type folder struct {
	dir    string
	listed bool
}

// walk collects the listed folders with Go files from f downwards.
func (l *Loader) walk(ctx context.Context, f folder, found *[]folder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := l.config.Inputs.ReadDir(f.dir)
	if err != nil {
		return &report.Error{What: "folder cannot be read", Where: f.dir, Err: err}
	}
	isModule := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "go.mod" && !e.IsDir() })
	f.listed = f.listed || isModule
	if f.listed && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() && isGoFile(e.Name()) }) {
		*found = append(*found, f)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		sub := folder{dir: filepath.Join(f.dir, e.Name()), listed: f.listed && !isPassedOver(e.Name())}
		if err := l.walk(ctx, sub, found); err != nil {
			return err
		}
	}
	return nil
}

func isPassedOver(name string) bool {
	return name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor"
}

// packagesIn returns the packages in folders that have files for this build.
func (l *Loader) packagesIn(folders []folder) ([]*Package, error) {
	packages := make([]*Package, len(folders))
	var group errgroup.Group
	group.SetLimit(8)
	for i, f := range folders {
		m, err := l.modulesFor(f.dir)
		if err != nil {
			return nil, err
		}
		path := m.importPathOf(f.dir)
		if path == "" {
			path, err = m.dependencyPathOf(f.dir)
		}
		if err != nil {
			return nil, err
		}
		group.Go(func() error {
			if p := l.packageAt(m, path, f.dir); len(p.GoFiles()) > 0 {
				packages[i] = p
			}
			return nil
		})
	}
	_ = group.Wait() // the functions report what goes wrong themselves
	return slices.DeleteFunc(packages, func(p *Package) bool { return p == nil }), nil
}

// dependencyPathOf is the import path of a folder of a required module.
func (m *modules) dependencyPathOf(dir string) (string, error) {
	for path, root := range m.dirs {
		if rest, ok := strings.CutPrefix(dir+string(filepath.Separator), root+string(filepath.Separator)); ok {
			return strings.TrimSuffix(path+"/"+filepath.ToSlash(rest), "/"), nil
		}
	}
	return "", &report.Error{What: fmt.Sprintf("%s is in no module that this one uses", dir)}
}

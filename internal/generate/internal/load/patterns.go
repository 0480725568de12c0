package load

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
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
	if f := l.config.Settled[dir]; f != nil && f.Path == path {
		p.facts = f
	}
	l.packages[key] = p
	return p
}

func (l *Loader) roots(ctx context.Context, patterns []string) ([]*Package, error) {
	dir, err := filepath.Abs(l.config.Dir)
	if err != nil {
		return nil, err
	}
	var all []matched
	for i, pattern := range patterns {
		some, err := l.match(ctx, dir, pattern)
		if err != nil {
			return nil, err
		}
		for _, m := range some {
			m.pattern = i
			all = append(all, m)
		}
	}
	roots := once(slices.Clone(all))
	slices.SortFunc(roots, func(a, b *Package) int {
		return cmp.Or(strings.Compare(a.Dir, b.Dir), strings.Compare(a.Path, b.Path))
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range roots {
		p.Root = true
	}
	l.rootPackages, l.lists = roots, listsOf(all)
	return roots, nil
}

// matched is a package that a pattern names.
type matched struct {
	*Package
	rank    rank
	pattern int    // its number
	module  string // the folder of the module, if that is nested in the folder that the pattern names
}

// rank says which of several packages with the same import path counts, say when a
// project holds a copy of itself: that which is named in the simplest way.
type rank int

const (
	byImportPath rank = iota
	byFolder
	inNestedModule
)

// once returns each package once, and one for each import path.
func once(all []matched) []*Package {
	slices.SortStableFunc(all, func(a, b matched) int { return cmp.Compare(a.rank, b.rank) })
	seen := make(map[string]bool, len(all))
	var packages []*Package
	for _, m := range all {
		if !seen[m.Path] {
			packages = append(packages, m.Package)
		}
		seen[m.Path] = true
	}
	return packages
}

// listsOf returns the packages that each of controller-gen's calls of `go list` names, in that order: one call is for
// all import paths, one for the folders of each pattern, and one for each module nested in them.
func listsOf(all []matched) (lists [][]*Package) {
	type call struct {
		rank    rank
		pattern int
		module  string
	}
	calls := make(map[call]int)
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b matched) int { return cmp.Compare(a.rank, b.rank) })
	for _, m := range all {
		of := call{m.rank, m.pattern, m.module}
		if m.rank == byImportPath {
			of.pattern = 0
		}
		if _, known := calls[of]; !known {
			calls[of] = len(calls)
			lists = append(lists, nil)
		}
		lists[calls[of]] = append(lists[calls[of]], m.Package)
	}
	return lists
}

// match finds the packages that one pattern names.
func (l *Loader) match(ctx context.Context, dir, pattern string) ([]matched, error) {
	if slices.Contains(reserved, pattern) {
		return l.matchReserved(ctx, dir, pattern)
	}
	start, below := strings.CutSuffix(filepath.ToSlash(pattern), "/...")
	if pattern == "..." {
		start, below = ".", true
	}
	isFolder, named := filepath.IsAbs(start) || strings.HasPrefix(start, "."), start
	start, err := l.folder(dir, pattern, start)
	if err != nil {
		return nil, err
	}
	if !l.env.isDir(start) {
		return nil, noPackages(pattern, "use a folder or an import path, optionally with /... at its end")
	}
	folders := []folder{{dir: start, tree: new(tree)}}
	if below {
		if folders, err = l.below(ctx, start); err != nil {
			return nil, err
		}
	}
	place := l.ownPlace
	if !isFolder {
		folders = slices.DeleteFunc(folders, func(f folder) bool { return f.tree.nested })
		place = func(folder string) (*modules, string, error) { return l.importedPlace(dir, named, start, folder) }
	}
	packages, err := l.packagesIn(folders, place)
	if err == nil && len(packages) == 0 && !below && !l.onlyTests(start) {
		err = noPackages(pattern, "name a folder with Go files for this platform")
	}
	if !isFolder {
		for i := range packages {
			packages[i].rank = byImportPath
		}
		slices.SortFunc(packages, func(a, b matched) int { return strings.Compare(a.Path, b.Path) }) // folders stand as they are walked
	}
	return packages, err
}

// onlyTests tells whether a folder without a package holds tests. The go command takes it for an empty package.
func (l *Loader) onlyTests(dir string) bool {
	entries, err := l.config.Inputs.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), "_test.go") })
}

func noPackages(pattern, hint string) error {
	return &report.Error{Class: report.BadProject, What: "the folder has no Go package", Where: pattern, Hint: hint}
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
	return "", noPackages(pattern, "use a folder that begins with ./ or an import path of this module or its dependencies")
}

// folderOf is the folder of an import path even when it holds no package itself.
func (m *modules) folderOf(importPath string) string {
	m.mu.Lock()
	dir := m.search(importPath)
	m.mu.Unlock()
	if dir != "" {
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

// ownPlace is what a folder's packages see of other modules, and its import path: those of the module that it is in.
func (l *Loader) ownPlace(dir string) (*modules, string, error) {
	m, err := l.modulesFor(dir)
	if err != nil {
		return nil, "", err
	}
	if path := m.importPathOf(dir); path != "" {
		return m, path, nil
	}
	path, err := m.dependencyPathOf(dir)
	return m, path, err
}

// importedPlace is [Loader.ownPlace] for a folder at or below the one, start, that an import path names. As with any
// import, the versions are those of the module in dir, wherever the path leads.
func (l *Loader) importedPlace(dir, importPath, start, folder string) (*modules, string, error) {
	m, err := l.modulesFor(dir)
	if err != nil {
		return nil, "", err
	}
	rest, err := filepath.Rel(start, folder)
	return m, path.Join(importPath, filepath.ToSlash(rest)), err
}

// packagesIn returns the packages in folders that have files for this build.
func (l *Loader) packagesIn(folders []folder, place func(dir string) (*modules, string, error)) ([]matched, error) {
	packages := make([]matched, len(folders))
	var group errgroup.Group
	group.SetLimit(8)
	for i, f := range folders {
		m, path, err := place(f.dir)
		if err != nil {
			return nil, err
		}
		group.Go(func() error {
			if p := l.packageAt(m, path, f.dir); p.Settled() || len(p.GoFiles()) > 0 {
				packages[i] = matched{Package: p, rank: byFolder}
				if f.tree.nested {
					packages[i].rank, packages[i].module = inNestedModule, f.tree.dir
				}
			}
			return nil
		})
	}
	_ = group.Wait() // the functions report what goes wrong themselves
	return slices.DeleteFunc(packages, func(m matched) bool { return m.Package == nil }), nil
}

// dependencyPathOf is the import path of a folder of a required module.
func (m *modules) dependencyPathOf(dir string) (string, error) {
	for path, root := range m.dirs {
		if rest, ok := strings.CutPrefix(dir+string(filepath.Separator), root+string(filepath.Separator)); ok {
			return strings.TrimSuffix(path+"/"+filepath.ToSlash(rest), "/"), nil
		}
	}
	return "", &report.Error{Class: report.BadProject, What: fmt.Sprintf("%s is not in a module that this one requires", dir)}
}

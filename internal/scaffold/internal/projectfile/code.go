package projectfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
	"github.com/slipway-dev/slipway/project"
)

// followCode has the project's own kinds be where their types are, in the API group that the types' package says, and
// its controllers where some are.
func followCode(p *plan.Plan, file *project.Project) error {
	followControllers(p.Root(), file)
	moved, err := movedTypes(p.Root(), file)
	if err != nil {
		return err
	}
	groups := map[string]string{}
	for i, r := range file.Resources {
		if !Own(file, r) {
			continue
		}
		if dir, ok := moved[typesName(r)]; ok && !inPlace(p.Root(), file, r) {
			r.Path = path.Join(file.Repo, dir)
		}
		dir := file.APIDir(r)
		group, known := groups[dir]
		if !known {
			group = p.APIGroup(dir)
			groups[dir] = group
		}
		file.Resources[i] = r.InAPIGroup(group)
	}
	return nil
}

// Own reports whether a kind's types are in the project's module.
func Own(file *project.Project, r project.Resource) bool {
	own := r.Path == "" || strings.HasPrefix(r.Path, file.Repo+"/")
	return r.API != nil && !r.Core && !r.External && own && filepath.IsLocal(filepath.FromSlash(file.APIDir(r)))
}

// Groups lists the groups of kinds that the project's code defines for an API server, in the order of PROJECT. A kind
// that is no object, such as that of the manager's configuration file, is none of them.
func Groups(root string, file *project.Project) []string {
	var groups []string
	for _, r := range file.Resources {
		if Own(file, r) && !slices.Contains(groups, r.Group) && Served(root, file, r) {
			groups = append(groups, r.Group)
		}
	}
	return groups
}

// Served reports whether a kind's type is an object, which has metadata. What its package does not show is taken for
// one.
func Served(root string, file *project.Project, r project.Resource) bool {
	dir := file.APIDir(r)
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	for _, e := range entries {
		if name := path.Join(dir, e.Name()); path.Ext(name) == ".go" && declaresKind(root, name, r.Kind) {
			data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			return err != nil || gofile.HasMetadata(data, r.Kind)
		}
	}
	return true
}

// inPlace reports whether a kind's types are in the folder that PROJECT says.
func inPlace(root string, file *project.Project, r project.Resource) bool {
	if declaresKind(root, file.TypesFile(r), r.Kind) {
		return true
	}
	dir := file.APIDir(r)
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return path.Ext(e.Name()) == ".go" && declaresKind(root, path.Join(dir, e.Name()), r.Kind)
	})
}

// typesName is how a kind's types are found wherever they are: by the version's folder and the file.
func typesName(r project.Resource) string {
	return path.Join(r.Version, path.Base((&project.Project{}).TypesFile(r)))
}

// movedTypes finds the folders of types that are not where PROJECT says, by [typesName]. Types that are in two places
// are in none.
func movedTypes(root string, file *project.Project) (map[string]string, error) {
	wanted := map[string]project.Resource{}
	for _, r := range file.Resources {
		if Own(file, r) && !inPlace(root, file, r) {
			wanted[typesName(r)] = r
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	found, twice := map[string]string{}, map[string]bool{}
	err := walk(root, anyFolder, func(name string) {
		stem := path.Join(path.Base(path.Dir(name)), path.Base(name))
		r, ok := wanted[stem]
		if !ok || !declaresKind(root, name, r.Kind) {
			return
		}
		_, twice[stem] = found[stem]
		found[stem] = path.Dir(name)
	})
	for stem, is := range twice {
		if is {
			delete(found, stem)
		}
	}
	return found, err
}

// mostFiles bounds how many Go files a walk looks at.
const mostFiles = 50_000

// anyFolder skips no folder.
func anyFolder(string) bool { return false }

// GoFiles calls f with the Go files of the module in root, by their paths with slashes. Modules in folders of it are
// left out.
func GoFiles(root string, f func(name string)) error {
	return walk(root, sourcefolder.IsModule, f)
}

// walk calls f with the Go files below root, by their paths with slashes, but for folders that skip reports.
func walk(root string, skip func(dir string) bool, f func(name string)) error {
	files := 0
	root, err := filepath.EvalSymlinks(root) // a walk does not follow the link that it begins at
	if err != nil {
		return fileerror.Unreadable(root, err)
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return filepath.SkipDir // what cannot be read holds nothing of the project
		case err != nil:
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != root && (sourcefolder.WithoutCode(base) || skip(name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if rel, err := filepath.Rel(root, name); err == nil && d.Type().IsRegular() && filepath.Ext(base) == ".go" {
			if files++; files > mostFiles {
				return filepath.SkipAll
			}
			f(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		return fileerror.Unreadable(root, err)
	}
	return nil
}

// declaresKind reports whether a file declares a struct type.
func declaresKind(root, name, kind string) bool {
	data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil && gofile.DeclaresStruct(data, kind)
}

package apply

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// ErrUnsupported is returned for what this package does not write the configurations of.
var ErrUnsupported = errors.New("not supported")

// Request says of which types there shall be configurations, and what they need to be known of.
type Request struct {
	Form    Form
	Package *load.Package
	// Group is the API group of the package.
	Group string
	// Types are objects to apply, besides those with +genclient. What their fields consist of gets configurations, too,
	// if it is of the package.
	Types []*load.TypeDecl
	// ClusterScoped are those of Types that have no namespace.
	ClusterScoped []*load.TypeDecl
	// Externals are the packages with configurations of types of other packages, by the types' full names.
	Externals map[string]string
	// Dir and Path are the folder of the configurations and its import path.
	Dir, Path string
	// Header are the first lines of files: Go comments, or nothing.
	Header string
	// Program is the name of the program that files report to be written by.
	Program string
	// Structure describes objects as package schema does. Without Types, it is asked for none.
	Structure func(objects []*load.TypeDecl) ([]byte, error)
}

// File is a file with its absolute path.
type File struct {
	Path    string
	Content []byte
}

// Files are the configurations of one package, and the files that all of them need.
func Files(r Request) ([]File, error) {
	w, err := newWorld(r)
	if err != nil {
		return nil, err
	}
	below := strings.ToLower(w.subfolder())
	out := output{Request: r, world: w, group: r.Group, version: path.Base(r.Package.Path), path: path.Join(r.Path, below)}
	var files []File
	dir := filepath.Join(r.Dir, filepath.FromSlash(below))
	for _, c := range w.configured {
		content, err := out.configuration(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		files = append(files, File{filepath.Join(dir, strings.ToLower(c.name)+".go"), content})
	}
	kinds, err := out.kinds()
	if err != nil {
		return nil, err
	}
	structure, err := out.structure()
	if err != nil {
		return nil, err
	}
	return append(files, File{filepath.Join(r.Dir, "utils.go"), kinds}, File{filepath.Join(r.Dir, "internal", "internal.go"), structure}), nil
}

// subfolder is the folder of the package's configurations: its own and the one around it.
func (w *world) subfolder() string {
	parts := strings.Split(w.pkg.Path, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// output writes files of a request.
type output struct {
	Request
	world          *world
	group, version string
	path           string // of the package of the configurations
	openings       openings
}

// apiVersion is what objects have as such.
func (o *output) apiVersion() string {
	return strings.TrimPrefix(o.group+"/"+o.version, "/")
}

// isDescribed reports whether the structure of objects is known, by which configurations are extracted from them.
func (o *output) isDescribed() bool { return len(o.Types) > 0 }

// unsupported is an error with a reason.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

package dependency

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// kind is a kind of another module that the project uses.
type kind struct {
	located
	name    string
	version string
	groups  []string // one of them is its group
}

// full is the kind's name for people.
func (k kind) full() string { return k.path + "." + k.name }

// groupMarker is where packages name their group.
var groupMarker = lazy.Regexp(`(?m)^// *\+groupName=([a-z0-9.-]+)\s*$`)

// kinds are the used names of a package that are kinds.
func (l located) kinds(used map[string]bool) (known []kind, missing []Missing) {
	if l.dir == "" {
		return nil, []Missing{{l.path, l.why}}
	}
	content, err := readPackage(l.dir)
	if err != nil {
		return nil, []Missing{{l.path, err.Error()}}
	}
	for name := range used {
		if content.kinds[name] {
			known = append(known, kind{located: l, name: name, version: path.Base(l.path), groups: content.groups})
		}
	}
	slices.SortFunc(known, func(a, b kind) int { return strings.Compare(a.name, b.name) })
	return known, nil
}

// content is what concerns kinds in a package.
type content struct {
	kinds  map[string]bool
	groups []string
}

// readPackage reads a package's Go files without its tests. Files that are not Go add nothing.
func readPackage(dir string) (content, error) {
	c := content{kinds: map[string]bool{}}
	folder, err := openModule(dir)
	if err != nil {
		return c, err
	}
	defer folder.close()
	names, err := fs.Glob(folder.root.FS(), "*.go")
	if err != nil {
		return c, err
	}
	var marked, written []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := folder.read(name)
		if err != nil {
			return c, err
		}
		for _, m := range groupMarker().FindAllSubmatch(text, -1) {
			marked = append(marked, string(m[1]))
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		written = append(written, c.add(parsed)...)
	}
	c.groups = marked
	if len(marked) == 0 {
		c.groups = written
	}
	return c, nil
}

// add adds the kinds of a file, and returns the texts in it that may be names of groups.
func (c content) add(file *ast.File) (texts []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok && embeds(s, "TypeMeta") && embeds(s, "ObjectMeta") {
				c.kinds[n.Name.Name] = true
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.Contains(text, ".") {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// embeds reports whether a type embeds one of another package, by its name.
func embeds(s *ast.StructType, name string) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
		selector, ok := f.Type.(*ast.SelectorExpr)
		return ok && len(f.Names) == 0 && selector.Sel.Name == name
	})
}

package newversion

import (
	"bytes"
	"cmp"
	"errors"
	"go/ast"
	"go/parser"
	"io"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// anyKey stands in a path for each key of a map.
const anyKey = "*"

// deepest bounds the paths that are looked for.
const deepest = 20

// A fieldPath is where objects have a field: the names in JSON, outermost first. Lists have no name of their own.
type fieldPath struct {
	names []string
	now   string // the field's name in the new version
}

// pathsTo returns where objects have a field that gets another name, by the types in a folder.
func (v *planner) pathsTo(dir, field, now string) (found []fieldPath, err error) {
	structs := map[string]*ast.StructType{}
	others := map[string]ast.Expr{}
	for _, name := range v.copied {
		name := path.Join(dir, name)
		file, _, err := gofile.Parse(name, v.after(name), parser.ParseComments)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					structs[spec.Name.Name] = s
				} else {
					others[spec.Name.Name] = spec.Type
				}
			}
			return true
		})
	}
	var walk func(of ast.Expr, at []string)
	walk = func(of ast.Expr, at []string) {
		if len(at) > deepest {
			return
		}
		switch of := of.(type) {
		case *ast.StarExpr:
			walk(of.X, at)
		case *ast.ArrayType:
			walk(of.Elt, at)
		case *ast.MapType:
			walk(of.Value, append(slices.Clone(at), anyKey))
		case *ast.Ident:
			if s := structs[of.Name]; s != nil {
				walk(s, at)
			} else if other := others[of.Name]; other != nil {
				walk(other, at)
			}
		case *ast.StructType:
			for _, f := range of.Fields.List {
				name, inline := jsonName(f)
				switch {
				case inline:
					walk(f.Type, at)
				case name == field:
					found = append(found, fieldPath{append(slices.Clone(at), name), now})
				case name != "":
					walk(f.Type, append(slices.Clone(at), name))
				}
			}
		}
	}
	walk(ast.NewIdent(v.new.Kind), nil)
	return found, nil
}

// jsonName returns the name of a field in JSON, and whether it has none since its fields are those of the struct
// around.
func jsonName(f *ast.Field) (name string, inline bool) {
	if f.Tag == nil {
		return "", len(f.Names) == 0
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "", false
	}
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name, name == "" && (len(f.Names) == 0 || slices.Contains(strings.Split(options, ","), "inline"))
}

// renamedKeys gives fields of an object in a text other names. It reports whether all were found: a text that is no
// YAML may have others.
func renamedKeys(document []byte, paths []fieldPath) ([]byte, bool) {
	type renamed struct {
		*yaml.Node
		now string
	}
	var keys []renamed
	for decoder := yaml.NewDecoder(bytes.NewReader(document)); ; {
		var root yaml.Node
		if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return document, false
		}
		for _, p := range paths {
			for _, key := range keysAt(&root, p.names) {
				keys = append(keys, renamed{key, p.now})
			}
		}
	}
	slices.SortFunc(keys, func(a, b renamed) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	lines, all := bytes.SplitAfter(document, []byte("\n")), true
	for _, key := range slices.Backward(keys) {
		if key.Line > len(lines) { // YAML knows other ends of lines
			all = false
			continue
		}
		line, at := lines[key.Line-1], key.Column-1
		if at < len(line) && (line[at] == '"' || line[at] == '\'') {
			at++
		}
		if !bytes.HasPrefix(line[min(at, len(line)):], []byte(key.Value)) { // letters before it have several bytes
			all = false
			continue
		}
		lines[key.Line-1] = slices.Concat(line[:at], []byte(key.now), line[at+len(key.Value):])
	}
	return bytes.Join(lines, nil), all
}

// keysAt returns the keys to which a path leads.
func keysAt(n *yaml.Node, p []string) (keys []*yaml.Node) {
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, item := range n.Content {
			keys = append(keys, keysAt(item, p)...)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch key := n.Content[i]; {
			case key.Value != p[0] && p[0] != anyKey:
			case len(p) == 1:
				keys = append(keys, key)
			default:
				keys = append(keys, keysAt(n.Content[i+1], p[1:])...)
			}
		}
	}
	return keys
}

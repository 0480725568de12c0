package newversion

import (
	"go/ast"
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fieldcopy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// findRenamed finds the fields of a version that goes which the new version calls otherwise: by the flags, and by what
// the conversion copies.
func (v *planner) findRenamed() error {
	old, err := v.fieldsIn(v.project.APIDir(v.old))
	if err != nil {
		return err
	}
	now, err := v.fieldsIn(v.project.APIDir(v.new))
	if err != nil {
		return err
	}
	pairs, err := v.converted(old, now)
	if err != nil {
		return err
	}
	maps.Copy(pairs, v.options.Rename)
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		before, after := inJSON(old, name), inJSON(now, pairs[name])
		if err := v.checkRename(name, pairs[name], before); err != nil {
			return err
		}
		if len(after) != 1 || len(after[0].field.Names) != 1 {
			return &report.Error{What: "the types of " + v.new.Version + " have not exactly one field " + pairs[name], Where: "--rename " + name + "=" + pairs[name], Hint: "nothing was changed"}
		}
		v.renamed = append(v.renamed, fieldcopy.Renamed{Before: before[0].field.Names[0].Name, After: after[0].field.Names[0].Name})
		paths, err := v.pathsTo(v.project.APIDir(v.old), name, pairs[name])
		if err != nil {
			return err
		}
		v.paths = append(v.paths, paths...)
	}
	return nil
}

// fieldsIn returns the fields of all structs in a folder.
func (v *planner) fieldsIn(dir string) (found []jsonField, err error) {
	for _, file := range v.Code().GoFilesIn(dir) {
		parsed, fset, err := gofile.Parse(file, v.after(file), 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					found = append(found, jsonField{file, fset, field})
				}
			}
			return true
		})
	}
	return found, nil
}

// inJSON returns the fields that have a name in JSON.
func inJSON(fields []jsonField, name string) []jsonField {
	return slices.DeleteFunc(slices.Clone(fields), func(f jsonField) bool {
		is, _ := jsonName(f.field)
		return is != name || name == ""
	})
}

// inGo returns the name in JSON of the only field with a name in Go, or "".
func inGo(fields []jsonField, name string) string {
	only := slices.DeleteFunc(slices.Clone(fields), func(f jsonField) bool { return len(f.field.Names) != 1 || f.field.Names[0].Name != name })
	if len(only) != 1 {
		return ""
	}
	is, _ := jsonName(only[0].field)
	if len(inJSON(fields, is)) != 1 {
		return ""
	}
	return is
}

// converted returns the names in JSON of fields that the conversion between both versions copies under another name.
func (v *planner) converted(old, now []jsonField) (map[string]string, error) {
	pairs, spoke := map[string]string{}, v.old
	toOld := v.old.Webhooks != nil && slices.Contains(v.old.Webhooks.Spoke, v.new.Version)
	if toOld {
		spoke = v.new
	}
	for _, file := range v.Code().GoFilesIn(v.project.APIDir(spoke)) {
		parsed, _, err := gofile.Parse(file, v.after(file), 0)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Body == nil || d.Recv == nil || receiverOf(d.Recv.List[0].Type) != v.old.Kind || d.Name.Name != "ConvertTo" && d.Name.Name != "ConvertFrom" {
				continue
			}
			for _, c := range copies(d.Body) {
				if toOld != (d.Name.Name == "ConvertTo") {
					c.Before, c.After = c.After, c.Before
				}
				if before, after := inGo(old, c.Before), inGo(now, c.After); before != "" && after != "" && before != after {
					pairs[before] = after
				}
			}
		}
	}
	return pairs, nil
}

// copies returns the names of fields that a function copies to fields of other names: those that it sets before those
// that it reads.
func copies(body *ast.BlockStmt) (found []fieldcopy.Renamed) {
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i := range a.Lhs {
				to, from := selected(a.Lhs[i]), selected(a.Rhs[i])
				if len(to) == 1 && len(from) == 1 && to[0] != from[0] {
					found = append(found, fieldcopy.Renamed{Before: to[0], After: from[0]})
				}
			}
		}
		return true
	})
	return found
}

// selected returns the names of the fields that an expression takes from variables.
func selected(e ast.Expr) (names []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if method, ok := n.Fun.(*ast.SelectorExpr); ok {
				names = append(names, selected(method.X)...)
			}
			for _, argument := range n.Args {
				names = append(names, selected(argument)...)
			}
			return false
		case *ast.SelectorExpr:
			if root := rootOf(n); root != nil && root.Obj != nil {
				names = append(names, n.Sel.Name)
			}
			return false
		}
		return true
	})
	return names
}

// rootOf returns the variable from which an expression takes a field; nil if there is none.
func rootOf(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return rootOf(e.X)
	case *ast.IndexExpr:
		return rootOf(e.X)
	case *ast.StarExpr:
		return rootOf(e.X)
	case *ast.ParenExpr:
		return rootOf(e.X)
	}
	return nil
}

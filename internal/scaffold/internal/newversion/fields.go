package newversion

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fieldcopy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// A jsonField is a field of a struct in a file of the new version.
type jsonField struct {
	file  string
	fset  *token.FileSet
	field *ast.Field
}

func (f jsonField) where() string {
	at := f.fset.Position(f.field.Pos())
	return report.Position{File: f.file, Line: at.Line, Column: at.Column}.String()
}

// renameFields gives fields of the new version's types other names, in JSON and in Go. The uses of the Go names follow
// from the mistakes that a compiler would report; see [RenameUses].
func (v *planner) renameFields() error {
	for old, now := range v.options.Rename {
		paths, err := v.pathsTo(v.project.APIDir(v.new), old, now)
		if err != nil {
			return err
		}
		v.paths = append(v.paths, paths...)
	}
	for _, old := range slices.Sorted(maps.Keys(v.options.Rename)) {
		now := v.options.Rename[old]
		found, err := v.fieldsCalled(old)
		if err != nil {
			return err
		}
		if err := v.checkRename(old, now, found); err != nil {
			return err
		}
		f := found[0]
		goName := strings.ToUpper(now[:1]) + now[1:]
		v.renamed = append(v.renamed, fieldcopy.Renamed{Before: f.field.Names[0].Name, After: goName})
		if err := v.Edit(f.file, func(file string, src []byte) ([]byte, error) { return renamedField(file, src, old, now, goName) }); err != nil {
			return err
		}
	}
	return nil
}

var fieldName = lazy.Regexp(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// checkRename refuses names that no field has or can have, and a name that several have.
func (v *planner) checkRename(old, now string, found []jsonField) error {
	e := &report.Error{Where: "--rename " + old + "=" + now, Hint: "nothing was changed"}
	switch {
	case !fieldName().MatchString(now):
		e.What, e.Hint = fmt.Sprintf("%q is no name of a field", now), "expected letters and digits, such as routes"
	case len(found) == 0:
		e.What, e.Hint = fmt.Sprintf("the types of %s have no field %s", v.old.Kind, old), "expected the name that the field has in JSON"
	case len(found) > 1:
		e.What, e.Hint = fmt.Sprintf("the types of %s have several fields %s", v.old.Kind, old), "nothing was changed; rename them by hand: "+found[0].where()+", "+found[1].where()
	case len(found[0].field.Names) != 1:
		e.What, e.Hint = "the field "+old+" has no name of its own in Go", "nothing was changed; rename it by hand: "+found[0].where()
	default:
		return nil
	}
	return e
}

// fieldsCalled returns the fields of the new version's types that have a name in JSON.
func (v *planner) fieldsCalled(name string) (found []jsonField, err error) {
	for _, file := range v.copied {
		file := path.Join(v.project.APIDir(v.new), file)
		c, err := v.Find(file)
		if err != nil {
			return nil, err
		}
		parsed, fset, err := gofile.Parse(file, c.After(), parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, field := range called(parsed, name) {
			found = append(found, jsonField{file, fset, field})
		}
	}
	return found, nil
}

// called returns the fields of a file that have a name in JSON.
func called(file *ast.File, name string) (fields []*ast.Field) {
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && f.Tag != nil {
			if tag, err := strconv.Unquote(f.Tag.Value); err == nil {
				if is, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); is == name && name != "" {
					fields = append(fields, f)
				}
			}
		}
		return true
	})
	return fields
}

// renamedField gives a field of a file other names. Markers of the file that lead to it by a path follow.
func renamedField(file string, src []byte, old, now, goName string) ([]byte, error) {
	parsed, fset, err := gofile.Parse(file, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	fields := called(parsed, old)
	if len(fields) != 1 || len(fields[0].Names) != 1 {
		return src, nil // the merge base may be older than the field
	}
	name, tag := fields[0].Names[0], fields[0].Tag
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	text := bytes.Replace(src[at(tag.Pos()):at(tag.End())], []byte(`json:"`+old), []byte(`json:"`+now), 1)
	src = slices.Concat(src[:at(name.Pos())], []byte(goName), src[at(name.End()):at(tag.Pos())], text, src[at(tag.End()):])
	in := regexp.MustCompile(`\.` + regexp.QuoteMeta(old) + `\b`)
	src = marker().ReplaceAllFunc(src, func(line []byte) []byte { return in.ReplaceAll(line, []byte("."+now)) })
	return gofile.KeepFormat(file, src, src), nil
}

// marker matches lines with markers.
var marker = lazy.Regexp(`(?m)^\s*//\s*\+\S.*$`)

// RenameUses gives the fields that a plan has renamed their new names in code: at the places of mistakes that a
// compiler would report, wherever the old name stands there. It returns how many it has renamed.
func RenameUses(p *plan.Plan, renamed []fieldcopy.Renamed, mistakes []report.Position) (count int, err error) {
	byFile := map[string][]report.Position{}
	for _, at := range mistakes {
		if !slices.Contains(byFile[at.File], at) {
			byFile[at.File] = append(byFile[at.File], at)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		places := byFile[file]
		slices.SortFunc(places, func(a, b report.Position) int { return (a.Line-b.Line)*10_000 + a.Column - b.Column })
		c, err := p.Find(file)
		if err != nil {
			return count, err
		}
		after := slices.Clone(c.After())
		for _, at := range slices.Backward(places) {
			for _, r := range renamed {
				from := offset(after, at)
				if to := from + len(r.Before); from >= 0 && to <= len(after) && string(after[from:to]) == r.Before {
					after, count = slices.Concat(after[:from], []byte(r.After), after[to:]), count+1
					break
				}
			}
		}
		before := c.After()
		err = p.Edit(file, func(_ string, src []byte) ([]byte, error) {
			if bytes.Equal(src, before) {
				return after, nil
			}
			return src, nil // a merge base that differs
		})
		if err != nil {
			return count, err
		}
	}
	return count, nil
}

// offset returns the offset of a place; -1 if the text has none.
func offset(src []byte, at report.Position) int {
	from := 0
	for range at.Line - 1 {
		end := bytes.IndexByte(src[from:], '\n')
		if end < 0 {
			return -1
		}
		from += end + 1
	}
	return from + at.Column - 1
}

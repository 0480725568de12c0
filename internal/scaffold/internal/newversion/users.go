package newversion

import (
	"bytes"
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// moveUsers plans that the project's code uses the new version, if that becomes the hub.
func (v *planner) moveUsers() error {
	if !v.options.Storage {
		return nil
	}
	sources, modules, err := v.Code().Sources()
	if err != nil {
		return err
	}
	dir := v.project.APIDir(v.old)
	for _, name := range sources {
		if path.Dir(name) == dir && !slices.Contains(v.moved, path.Base(name)) || v.elsewhere(name, modules) {
			continue
		}
		if err := v.moveUser(name); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere reports whether a file belongs to a module that does not see the project's packages under their names.
func (v *planner) elsewhere(name string, modules map[string]string) bool {
	own := v.Code().NestedModule(path.Dir(name))
	return own != "" && own != v.Code().NestedModule(v.project.APIDir(v.old)) && modules[own] != v.project.Repo
}

// moveUser plans a file at its new place, with the new version.
func (v *planner) moveUser(name string) error {
	c, err := v.Find(name)
	if err != nil || generated().Match(c.After()) {
		return err
	}
	to := v.set.Targets(name)[0].Path
	if name == v.suite {
		if divided, err := v.divideSuite(to); divided || err != nil {
			return err
		}
	}
	if to == name && !v.usesKind(c.After()) && !v.namesSample(c.After()) && !v.registers(c.After()) {
		return nil
	}
	if to != name {
		if err := v.Move(name, to); err != nil {
			return err
		}
	}
	v.leaveRegistrations(to, c.After())
	if v.usesKind(c.After()) && slices.ContainsFunc(v.oldNames(c.After()), func(name string) bool { return bytes.Contains(c.After(), []byte(name+".GroupVersion")) }) {
		v.Leave(fmt.Sprintf("%s: it uses the GroupVersion of %s now, but owner references and other texts that were written before name %s: compare groups, not versions", to, v.new.Version, v.old.Version))
	}
	rewrite := v.rewriting(name, to)
	return v.Edit(to, func(file string, src []byte) (after []byte, err error) {
		if after = src; to != name || v.usesKind(src) {
			if after, err = rewrite(file, src); err != nil {
				return nil, err
			}
		}
		if v.namesSample(after) {
			after = bytes.ReplaceAll(after, []byte(v.sample[0]), []byte(v.sample[1]))
		}
		return v.register(file, v.remark(v.reword(file, after)))
	})
}

// generated matches the line that marks files of generators, which make them again from the types.
var generated = lazy.Regexp(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// namesSample reports whether a file names that of the kind's sample, as tests do.
func (v *planner) namesSample(src []byte) bool {
	return v.sample[0] != "" && bytes.Contains(src, []byte(v.sample[0]))
}

// usesKind reports whether a file uses a name that only the moved kind needs. With a dot import it may.
func (v *planner) usesKind(src []byte) bool {
	if v.webhooks != nil && bytes.Contains(src, []byte(strconv.Quote(v.webhooks.Import))) {
		return true
	}
	names := v.oldNames(src)
	if len(names) == 0 || slices.Contains(names, ".") {
		return len(names) > 0
	}
	file, _, err := gofile.Parse("", src, 0)
	if err != nil {
		return false
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, is := s.X.(*ast.Ident)
			found = found || is && slices.Contains(names, x.Name) && v.ownNames[s.Sel.Name]
		}
		return !found
	})
	return found
}

var webhookMarker = lazy.Regexp(`(?m)^\s*//\s*\+kubebuilder:webhook:.*$`)

// remark has the markers of the kind's webhooks name the new version. The names of webhooks stay: configurations and
// their patches refer to them. With matchPolicy=Exact the API server does not convert objects for a webhook: those of
// the old version go on to need one of their own, which has the name.
func (v *planner) remark(src []byte) []byte {
	version := regexp.MustCompile(`\b` + regexp.QuoteMeta(v.old.Version) + `\b`)
	group := regexp.MustCompile(`[:,]groups="?` + regexp.QuoteMeta(v.old.QualifiedGroup()) + `"?(,|$)`)
	plural := regexp.MustCompile(`[,:;=]resources="?([^,]*;)?` + regexp.QuoteMeta(v.old.PluralName()) + `(/\w+)?"?([,;]|$)`)
	derived := regexp.MustCompile(`path="?[^,"]*-` + v.old.Version + "-" + strings.ToLower(v.old.Kind) + `"?(,|$)`)
	return webhookMarker().ReplaceAllFunc(src, func(line []byte) []byte {
		text := bytes.TrimSpace(line)
		if !group.Match(text) || !plural.Match(text) {
			return line
		}
		own := derived.Match(text)
		after := versionedArgument().ReplaceAllFunc(line, func(argument []byte) []byte {
			if bytes.HasPrefix(argument, []byte("path=")) && !own {
				return argument // of the authors' own
			}
			return distinct(version.ReplaceAll(argument, []byte(v.new.Version)))
		})
		if !own || !exactly().Match(text) {
			return after
		}
		renamed := namedArgument().ReplaceAllFunc(after, func(argument []byte) []byte { return version.ReplaceAll(argument, []byte(v.new.Version)) })
		if marker := string(text); !bytes.Equal(renamed, after) && !slices.Contains(v.exact, marker) {
			v.exact = append(v.exact, marker)
		}
		return renamed
	})
}

// distinct returns an argument with each value of its list once.
func distinct(argument []byte) []byte {
	name, list, _ := strings.Cut(string(argument), "=")
	var values []string
	for value := range strings.SplitSeq(list, ";") {
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return []byte(name + "=" + strings.Join(values, ";"))
}

// versionedArgument matches the arguments of a webhook's marker that name the version of its kind; others name those of
// the reviews.
var versionedArgument = lazy.Regexp(`\b(path|versions)=[^,]*`)

// namedArgument matches the name of a webhook, and exactly the policy by which it gets objects of its versions alone.
var (
	namedArgument = lazy.Regexp(`\bname=[^,]*`)
	exactly       = lazy.Regexp(`\bmatchPolicy="?Exact\b`)
)

// reword has comments and messages of the kind's conversions and their tests name the new hub.
func (v *planner) reword(file string, src []byte) []byte {
	singular, name := v.old.SingularName(), path.Base(file)
	if name != singular+"_conversion.go" && (!strings.HasPrefix(name, singular+"_") || !strings.HasSuffix(name, "_test.go")) {
		return src
	}
	named := regexp.MustCompile(`\b` + v.old.Version + `(, the hub| → )|(the hub's version, |convert back to | → |create a ` + v.old.Kind + ` as )` + v.old.Version + `\b`)
	return named.ReplaceAll(src, []byte("${2}"+v.new.Version+"${1}"))
}

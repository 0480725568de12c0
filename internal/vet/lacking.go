package vet

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/typecheck"
)

// A Program reads the packages of programs, by their folders, with go/types.
type Program func(folders []string) (typecheck.Program, error)

// lacking finds permissions that calls of the manager's client need, and that neither markers nor bound roles give.
// Nothing is found where something else may give them, or types do not say whose client it is, or of which kind.
func (v *vetting) lacking(read Program) error {
	var given []source.Permission
	for _, f := range v.files {
		for _, p := range source.Permissions(f.name, f.text) {
			given = append(given, p.Value)
		}
	}
	if len(given) == 0 {
		return nil // roles are not made of markers
	}
	managers, err := v.code.Managers()
	granted, known := v.code.Granted()
	if err != nil || len(managers) == 0 || !known {
		return nil // reported by what deploys and builds
	}
	var folders []string
	for _, m := range managers {
		folders = append(folders, m.Package)
	}
	program, err := read(folders)
	if err != nil || len(program.Packages) == 0 {
		return err
	}
	c := caller{flow: flowOf(program), v: v}
	if !c.own() {
		return nil
	}
	c.all()
	v.reportLacking(c, slices.Concat(given, granted))
	return nil
}

// all notes what all calls of the program need.
func (c *caller) all() {
	records := false
	for call, info := range c.calls {
		c.read(call, info)
		records = records || isRecording(called(call, info))
	}
	for call, info := range c.calls {
		if records {
			c.recording(call, info)
		}
		c.electing(call, info)
	}
}

// isRecording reports whether a function is a method by which recorders record.
func isRecording(of types.Object) bool {
	if of == nil || of.Pkg() == nil || !slices.Contains([]string{"Event", "Eventf", "AnnotatedEventf"}, of.Name()) {
		return false
	}
	return strings.HasPrefix(of.Pkg().Path(), "k8s.io/client-go/tools/") // of record, of events, and of what these stand for
}

// electing notes what a manager needs that always elects a leader.
func (c *caller) electing(call *ast.CallExpr, info *types.Info) {
	for _, argument := range call.Args {
		options, is := ast.Unparen(argument).(*ast.CompositeLit)
		if !is || !isNamed(info.Types[options].Type, managerPackage, "Options") {
			continue
		}
		for _, element := range options.Elts {
			pair, is := element.(*ast.KeyValueExpr)
			if !is {
				continue
			}
			elects := info.Types[pair.Value].Value
			if name, is := pair.Key.(*ast.Ident); is && name.Name == "LeaderElection" && elects != nil && elects.Kind() == constant.Bool && constant.BoolVal(elects) {
				for _, verb := range []string{"get", "create", "update"} {
					c.needs = append(c.needs, need{pair.Pos(), "coordination.k8s.io", "leases", [][]string{{verb}}})
				}
			}
		}
	}
}

// reportLacking reports what is needed and not given, once for each resource.
func (v *vetting) reportLacking(c caller, given []source.Permission) {
	type resource struct{ group, name string }
	var found []need
	verbs := map[resource][]string{}
	for _, n := range c.needs {
		if slices.ContainsFunc(n.verbs, func(set []string) bool {
			return !slices.ContainsFunc(set, func(verb string) bool { return !permits(given, n.group, n.resource, verb) })
		}) {
			continue
		}
		of := resource{n.group, n.resource}
		if verbs[of] == nil {
			found = append(found, n)
		}
		verbs[of] = append(verbs[of], n.verbs[0]...)
	}
	for _, n := range found {
		missing := verbs[resource{n.group, n.resource}]
		asked := missing
		if !strings.Contains(n.resource, "/") && in(missing, "get", "list") {
			asked = append(slices.Clone(missing), "list", "watch") // which the cache of a client needs
		}
		at := c.Files.Position(n.at)
		v.found = append(v.found, report.Finding{
			Rule:     report.RuleMissingPermission,
			Position: report.Position{File: at.Filename, Line: at.Line, Column: at.Column},
			Message: fmt.Sprintf("the manager needs to %s %s in the API %s, and no marker or bound role permits that: the API server refuses it",
				strings.Join(usualOrder(missing), ", "), n.resource, groupText([]string{n.group})),
			Suggestion: fmt.Sprintf("write // +%s:groups=%s,resources=%s,verbs=%s", source.PermissionMarker, cmp.Or(n.group, `""`), n.resource, strings.Join(usualOrder(asked), ";")),
		})
	}
}

// usualOrder are verbs in the order that markers have them.
func usualOrder(verbs []string) []string {
	return slices.DeleteFunc([]string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}, func(verb string) bool { return !slices.Contains(verbs, verb) })
}

// in reports whether a list has one of some names.
func in(list []string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(list, name) })
}

// permits reports whether permissions have a verb on a resource.
func permits(given []source.Permission, group, resource, verb string) bool {
	_, subresource, _ := strings.Cut(resource, "/")
	return slices.ContainsFunc(given, func(p source.Permission) bool {
		groups := p.Groups
		if len(groups) == 0 {
			groups = []string{""}
		}
		return in(p.Verbs, verb, "*") && in(p.Resources, resource, "*", "*/"+subresource) && (in(groups, group, "*") || group == "" && in(groups, "core"))
	})
}

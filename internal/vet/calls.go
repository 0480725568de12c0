package vet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/project"
)

// A need is a permission without which the API server refuses a call.
type need struct {
	at              token.Pos
	group, resource string
	// verbs are those that are needed, in one of these sets: a client that reads through a cache lists and watches.
	verbs [][]string
}

// The verbs of calls. It is not known whether a client that reads has a cache.
var (
	reading  = [][]string{{"get"}, {"list", "watch"}}
	watching = [][]string{{"list", "watch"}}
	byMethod = map[string][][]string{
		"Get": reading, "List": {{"list"}}, "Create": {{"create"}}, "Update": {{"update"}}, "Patch": {{"patch"}}, "Delete": {{"delete"}},
		"DeleteAllOf": {{"deletecollection"}},
	}
)

// caller finds what the calls of a program need.
type caller struct {
	*flow
	v     *vetting
	needs []need
}

// read notes what a call needs, as far as types say.
func (c *caller) read(call *ast.CallExpr, info *types.Info) {
	of := called(call, info)
	for name, change := range map[string]string{"CreateOrUpdate": "update", "CreateOrPatch": "patch"} {
		if (isObject(of, utilPackage, name) || isObject(of, controllerRuntime, name)) && len(call.Args) > 3 && c.following(isManagers).value(value{call.Args[1], info}) {
			t := info.Types[call.Args[2]].Type
			c.need(call, t, "", reading)
			c.need(call, t, "", [][]string{{"create"}})
			if !onlyReturns(call.Args[3]) {
				c.need(call, t, "", [][]string{{change}})
			}
		}
	}
	selector, is := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !is || info.Selections[selector] == nil || of.Pkg() == nil {
		return
	}
	switch of.Pkg().Path() {
	case builderPackage:
		builds := !isNamed(deref(info.Types[selector.X].Type), builderPackage, "WebhookBuilder")
		if builds && slices.Contains([]string{"For", "Owns", "Watches", "WatchesMetadata"}, of.Name()) && len(call.Args) > 0 {
			c.need(call, info.Types[call.Args[0]].Type, "", watching)
		}
	case clientPackage:
		c.client(call, selector, info)
	}
}

// onlyReturns reports whether a function has one statement, which returns: such a one changes no object that is there.
func onlyReturns(x ast.Expr) bool {
	function, is := ast.Unparen(x).(*ast.FuncLit)
	if !is || len(function.Body.List) != 1 {
		return false
	}
	_, is = function.Body.List[0].(*ast.ReturnStmt)
	return is
}

// client notes what a call of a client's method needs.
func (c *caller) client(call *ast.CallExpr, selector *ast.SelectorExpr, info *types.Info) {
	name, at, subresource := selector.Sel.Name, 1, ""
	verbs := byMethod[name]
	switch through, is := ast.Unparen(selector.X).(*ast.CallExpr); {
	case is:
		if selector, subresource = subresourceOf(through, info); name == "Get" {
			verbs = [][]string{{"get"}} // without a cache
		}
	case name == "Get":
		at = 2
	}
	if verbs == nil || len(call.Args) <= at || selector == nil || !c.isManagers(selector, info) {
		return
	}
	t := info.Types[call.Args[at]].Type
	if name == "List" {
		t = itemOf(t)
	}
	c.need(call, t, subresource, verbs)
}

// isManagers reports whether the client whose method is selected is the manager's: it is in front of the method, or in
// a struct there that embeds it.
func (c *caller) isManagers(selector *ast.SelectorExpr, info *types.Info) bool {
	selection := info.Selections[selector]
	through := selection.Index()[:len(selection.Index())-1]
	if len(through) == 0 {
		return c.following(isManagers).value(value{selector.X, info})
	}
	var field *types.Var
	for t := selection.Recv(); len(through) > 0; through = through[1:] {
		of, is := deref(t).Underlying().(*types.Struct)
		if !is {
			return false
		}
		field = of.Field(through[0]).Origin()
		t = field.Type()
	}
	return c.following(isManagers).variable(field)
}

// itemOf is the type of a list's items; nil for other types.
func itemOf(t types.Type) types.Type {
	list, is := deref(t).Underlying().(*types.Struct)
	if !is {
		return nil
	}
	for field := range list.Fields() {
		if items, is := field.Type().Underlying().(*types.Slice); is && field.Name() == "Items" {
			return items.Elem()
		}
	}
	return nil
}

// subresourceOf is the subresource whose client a call returns, and the selector of that call. It is nil for other
// calls.
func subresourceOf(call *ast.CallExpr, info *types.Info) (selector *ast.SelectorExpr, name string) {
	selector, is := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !is || info.Selections[selector] == nil {
		return nil, ""
	}
	of := info.Selections[selector].Obj()
	switch {
	case of.Pkg() == nil || of.Pkg().Path() != clientPackage:
	case of.Name() == "Status":
		return selector, "/status"
	case of.Name() == "SubResource" && len(call.Args) == 1:
		if name := info.Types[call.Args[0]].Value; name != nil && name.Kind() == constant.String {
			return selector, "/" + constant.StringVal(name)
		}
	}
	return nil, ""
}

// need notes a permission on the resource of a type.
func (c *caller) need(call *ast.CallExpr, t types.Type, subresource string, verbs [][]string) {
	if t == nil {
		return
	}
	named, is := types.Unalias(deref(t)).(*types.Named)
	if !is || named.Obj().Pkg() == nil {
		return // an interface, or a type parameter
	}
	if group, resource, known := c.v.resourceOf(named.Obj().Pkg(), named.Obj().Name()); known {
		c.needs = append(c.needs, need{calledName(call).Pos(), group, resource + subresource, verbs})
	}
}

// recording notes what a program needs that records events by recorders of its manager.
func (c *caller) recording(call *ast.CallExpr, info *types.Info) {
	if selector, is := ast.Unparen(call.Fun).(*ast.SelectorExpr); is && isNamed(info.Types[selector.X].Type, managerPackage, "Manager") {
		switch selector.Sel.Name {
		case "GetEventRecorderFor":
			c.needs = append(c.needs, need{calledName(call).Pos(), "", "events", [][]string{{"create"}}})
		case "GetEventRecorder":
			c.needs = append(c.needs, need{calledName(call).Pos(), "events.k8s.io", "events", [][]string{{"create"}}})
		}
	}
}

// resourceOf is the group and the plural of a kind's type: of the project's own, or of Kubernetes'.
func (v *vetting) resourceOf(pkg *types.Package, name string) (group, resource string, known bool) {
	if k := v.kindOf(file{}, typeName{pkg.Path(), name}); k != nil {
		r := project.Resource{Kind: k.Name, Plural: k.Plural}
		return k.Package.Group, r.PluralName(), k.Certain && k.Package.Group != ""
	}
	declared, is := pkg.Scope().Lookup("GroupName").(*types.Const)
	if !is || declared.Val().Kind() != constant.String || !strings.HasPrefix(pkg.Path(), "k8s.io/api/") {
		return "", "", false
	}
	group = constant.StringVal(declared.Val())
	resource = project.Plural(name)
	return group, resource, slices.Contains(resourcesOf(group, nil), resource)
}

package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// world is what is known of a package's types, and of those that have configurations.
type world struct {
	pkg      *load.Package
	form     Form
	byDecl   map[*load.TypeDecl]*typ
	comments comments

	// refs are the packages of configurations, by the full names of the types.
	refs       map[string]string
	configured []*configured
	objects    []*load.TypeDecl // that are applied
}

// configured is a type that gets a configuration.
type configured struct {
	*typ
	decl *load.TypeDecl
	doc  *documentation
	tags clientTags
}

// metaConfigured are the types of package meta/v1 that client-go has configurations of.
var metaConfigured = [...]string{
	"Condition", "DeleteOptions", "LabelSelector", "LabelSelectorRequirement", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "TypeMeta",
}

const metaConfigurations = "k8s.io/client-go/applyconfigurations/meta/v1"

func newWorld(r Request) (*world, error) {
	w := &world{pkg: r.Package, form: r.Form, byDecl: make(map[*load.TypeDecl]*typ), comments: make(comments), refs: make(map[string]string)}
	for _, name := range metaConfigured {
		w.refs[metaPackage+"."+name] = metaConfigurations
	}
	maps.Copy(w.refs, r.Externals)
	if err := w.checkPackage(r); err != nil {
		return nil, err
	}
	all, err := w.candidates(r)
	if err != nil {
		return nil, err
	}
	found := reached{world: w, seen: make(map[*typ]bool)}
	for _, c := range all {
		if c.tags.asked && c.tags.applied {
			w.objects = append(w.objects, c.decl)
			found.add(c.typ)
		}
	}
	if found.refused != "" {
		return nil, unsupported("%s", found.refused)
	}
	to := r.Path + "/" + strings.ToLower(w.subfolder())
	for _, c := range all {
		switch {
		case found.seen[c.typ] && w.hasTags(c.typ) && !c.is(runtimePackage, "RawExtension") && !c.is(runtimePackage, "Unknown"):
			w.refs[c.full()] = to
		case w.refs[c.full()] != "":
			return nil, unsupported("a configuration elsewhere of %s, which is of the package itself", c.name)
		default:
			continue
		}
		if !c.tags.asked || embeds(w.membersOf(c.typ), (*typ).isObjectMeta) {
			w.configured = append(w.configured, c)
		}
	}
	return w, w.inOrder()
}

func (t *typ) full() string { return t.pkg + "." + t.name }

// hasTags reports whether one of the members is serialised.
func (w *world) hasTags(t *typ) bool {
	return slices.ContainsFunc(w.membersOf(t), func(m *member) bool {
		_, ok := w.form.jsonTagOf(m)
		return ok
	})
}

// inOrder sorts the configurations by the names of their files.
func (w *world) inOrder() error {
	slices.SortFunc(w.configured, func(a, b *configured) int { return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	for i, c := range w.configured {
		if i > 0 && strings.EqualFold(c.name, w.configured[i-1].name) {
			return unsupported("%s and %s, which differ in case alone", w.configured[i-1].name, c.name)
		}
	}
	return nil
}

// checkPackage refuses packages that the program does not take as they are.
func (w *world) checkPackage(r Request) error {
	if !strings.Contains(w.pkg.Path, "/") {
		return unsupported("a package whose import path has one part")
	}
	for _, text := range []string{w.pkg.Path, r.Path, r.Group} { // they stand between quotes
		if strconv.Quote(text) != `"`+text+`"` {
			return unsupported("a path or a group like %q", text)
		}
	}
	lines := w.packageLines()
	if group, found := tagValue(lines, "groupName"); found && group != r.Group {
		return unsupported("a doc.go with +groupName=%s, where the group is %s", group, r.Group)
	}
	if _, found := tagValue(lines, "k8s:applyconfiguration-gen"); found {
		return unsupported("+k8s:applyconfiguration-gen")
	}
	return nil
}

// candidates are the structs of the package.
func (w *world) candidates(r Request) (all []*configured, err error) {
	docs := w.documented(r.Form)
	for _, d := range w.pkg.Decls() {
		if d.IsAlias() || d.IsGeneric() {
			if slices.Contains(r.Types, d) {
				return nil, unsupported("%s, which is an alias or has type parameters", d.Name())
			}
			continue
		}
		if d.Name() == "_" {
			continue
		}
		c := &configured{typ: w.of(d.Type()), decl: d}
		c.doc = docs[c.typ]
		if c.doc == nil { // declared as what is of another package
			c.doc = &documentation{}
		}
		if c.tags, err = readClientTags(c.doc.lines()); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name(), err)
		}
		c.tags.asked = c.tags.asked || slices.Contains(r.Types, d)
		c.tags.nonNamespaced = c.tags.nonNamespaced || slices.Contains(r.ClusterScoped, d)
		if c.kind != structKind {
			if c.tags.asked {
				return nil, unsupported("%s, which is no struct", d.Name())
			}
			continue
		}
		all = append(all, c)
	}
	return all, nil
}

// reached are the package's types that others consist of. What is in other packages cannot refer to them.
type reached struct {
	*world
	seen    map[*typ]bool
	refused string
}

func (r *reached) add(t *typ) {
	if t.generic && r.refused == "" {
		r.refused = t.refused
	}
	if r.seen[t] || t.pkg != "" && t.pkg != r.pkg.Path {
		return
	}
	r.seen[t] = true
	for _, part := range append([]*typ{t.elem, t.key}, t.parts...) {
		if part != nil {
			r.add(part)
		}
	}
	for _, m := range r.membersOf(t) {
		r.add(m.typ)
	}
}

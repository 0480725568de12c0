package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/kustomization"
)

// Marks for prefix and namespace. They are DNS names, so that kustomize accepts them.
const (
	PrefixMark    = "slipway-mark-of-the-prefix-q7x-"
	NamespaceMark = "slipway-mark-of-the-namespace-q7x"
)

// A Model is what a kustomization deploys.
type Model struct {
	Features  []Feature
	Notes     []string // what the build does that kustomize itself does not
	Documents []Document
	Prefix    string // namePrefix of the kustomization
	Namespace string // that the kustomization deploys to; "" if it sets none
}

// A Document is an object with its conditions.
type Document struct {
	Group, Kind string
	Name        string // without the prefix
	Feature     string // the only feature that the object belongs to, or ""
	When        tree.Condition
	Object      *tree.Map
}

// Of reports whether the document is of a kind.
func (d Document) Of(group, kind string) bool { return d.Group == group && d.Kind == kind }

// Load builds the kustomization in folder dir, which it reads through files.
func Load(ctx context.Context, dir string, files kustomization.Files) (*Model, error) {
	if m, err := load(ctx, files, dir, newSchemas(false)); err == nil && m != nil {
		return m, nil
	}
	return load(ctx, files, dir, newSchemas(true))
}

// load returns nil for the model if a patch changes a schema, so that schemas must not be hidden.
func load(ctx context.Context, files kustomization.Files, dir string, hidden *schemas) (*Model, error) {
	text, err := files.Read(dir)
	if err != nil {
		return nil, err
	}
	kustomization, err := read(text)
	if err != nil {
		return nil, err
	}
	m := &Model{}
	tell := func(text string) { m.Notes = append(m.Notes, text) }
	full, err := build(ctx, files, dir, text, hidden, tell)
	if err != nil {
		return nil, err
	}
	m.Prefix, _ = kustomization["namePrefix"].(string)
	m.Namespace, _ = kustomization["namespace"].(string)
	for i, text := range m.Notes {
		m.Notes[i] = strings.NewReplacer(PrefixMark, m.Prefix, NamespaceMark, m.Namespace).Replace(text)
	}
	var variants [][]*unstructured.Unstructured
	for _, f := range featuresOf(kustomization) {
		without, err := build(ctx, files, dir, text, hidden, nil, f.entries...)
		if err != nil {
			continue // another feature needs it, so it cannot be switched
		}
		m.Features = append(m.Features, f)
		variants = append(variants, without)
	}
	own := namespace(full)
	if own != NamespaceMark {
		m.Namespace = cmp.Or(m.Namespace, own)
	}
	m.Documents = m.merge(full, variants)
	for _, d := range m.Documents {
		markNamespace(d.Object, own)
		if !hidden.show(d.Object) {
			return nil, nil
		}
	}
	m.followNames()
	m.Documents = slices.DeleteFunc(m.Documents, func(d Document) bool { return d.Of("", "Namespace") && isOwn(d, own) })
	return m, nil
}

func build(ctx context.Context, files kustomization.Files, dir string, text []byte, hidden *schemas, tell func(string), without ...features.Entry) ([]*unstructured.Unstructured, error) {
	edited, err := edit(text, without)
	if err != nil {
		return nil, err
	}
	return kustomization.BuildEdited(ctx, files, dir, edited, hidden.hide, tell)
}

// merge makes documents of the objects with all features and without each.
func (m *Model) merge(full []*unstructured.Unstructured, without [][]*unstructured.Unstructured) []Document {
	objects := map[string]*unstructured.Unstructured{} // the first of each identity
	var order []string
	var builds []map[string]any
	for _, build := range append([][]*unstructured.Unstructured{full}, without...) {
		in := map[string]any{}
		for _, o := range build {
			id := identity(o)
			in[id] = o.Object
			if objects[id] == nil {
				objects[id] = o
				order = append(order, id)
			}
		}
		builds = append(builds, in)
	}
	var documents []Document
	for _, id := range order {
		variants := make([]tree.Variant, len(without))
		for i, build := range builds[1:] {
			value, there := build[id]
			variants[i] = tree.Variant{On: m.Features[i].On(), Value: value, Gone: !there}
		}
		value, there := builds[0][id]
		for _, a := range tree.MergePart(value, there, variants) {
			object, ok := a.Value.(*tree.Map)
			if !ok { // an object is always a map
				continue
			}
			d := document(objects[id], a.When, object)
			d.Feature = m.only(variants, there)
			documents = append(documents, d)
		}
	}
	return documents
}

// only returns the feature without which an object does not exist, if there is exactly one.
func (m *Model) only(variants []tree.Variant, there bool) string {
	name := ""
	for i, v := range variants {
		switch {
		case !there || v.Gone && name != "":
			return ""
		case v.Gone:
			name = m.Features[i].Name
		}
	}
	return name
}

func document(o *unstructured.Unstructured, when tree.Condition, object *tree.Map) Document {
	gvk := o.GroupVersionKind()
	return Document{Group: gvk.Group, Kind: gvk.Kind, Name: Unmarked(o.GetName()), When: when, Object: ordered(object)}
}

// ordered moves apiVersion, kind and metadata to the top.
func ordered(object *tree.Map) *tree.Map {
	rank := map[string]int{"apiVersion": -3, "kind": -2, "metadata": -1}
	slices.SortStableFunc(object.Fields, func(a, b tree.Field) int { return cmp.Compare(rank[a.Key], rank[b.Key]) })
	return object
}

func identity(o *unstructured.Unstructured) string {
	gvk := o.GroupVersionKind()
	return fmt.Sprintf("%s/%s %s/%s", gvk.Group, gvk.Kind, o.GetNamespace(), o.GetName())
}

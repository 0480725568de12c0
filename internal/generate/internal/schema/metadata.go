package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/report"
)

// doubtMetadata doubts a field that holds an ObjectMeta, itself or in a type of another module: the API server prunes
// what the schema does not name, and without an option the schema names nothing in an ObjectMeta. Types of the user's
// own modules have their own fields doubted. The metadata of a kind itself are the API server's matter. Those of
// another struct may be, too: its uses decide.
func (b *structBuilder) doubtMetadata(f *load.Field, name string, inline bool, s *Schema) {
	options := b.b.options
	isMetadata := name == "metadata" && !inline
	if options.EmbeddedObjectMeta || options.FullObjectMeta || !b.decl.Package.Local() || b.isKind() && isMetadata {
		return
	}
	path, lost := b.b.lostMetadata(s, nil)
	if !lost {
		return
	}
	doubt := func() {
		b.doubt(report.RuleEmbeddedMetadata, f.Syntax.Pos(), "use the option crd:generateEmbeddedObjectMeta=true",
			"the API server drops the labels, annotations and name in %s: the schema has no fields of ObjectMeta", b.pathOf(name, inline, path))
	}
	if isMetadata && path == "" {
		b.b.whereUsed.Store(s, doubt)
		return
	}
	doubt()
}

// pathOf is the path in JSON from the struct to what a field has at path. The fields of an inlined one are the
// struct's.
func (b *structBuilder) pathOf(name string, inline bool, path string) string {
	if inline {
		return cmp.Or(strings.TrimPrefix(path, "."), b.decl.Name())
	}
	return name + path
}

// isKind reports whether the struct embeds a TypeMeta.
func (b *structBuilder) isKind() bool {
	return slices.ContainsFunc(b.decl.Fields(), func(f *load.Field) bool { return f.Name == "" && fieldName(f) == "TypeMeta" })
}

// lostMetadata finds an ObjectMeta in s, and the path to it. Seen are the declarations on the way.
func (b *Builder) lostMetadata(s *Schema, seen []*load.TypeDecl) (path string, found bool) {
	if s.EmbeddedResource || s.PreserveUnknownFields {
		return "", false
	}
	if s.ref != nil {
		return b.lostIn(s.ref, seen)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if path, found := b.lostMetadata(s.Properties[name], seen); found {
			return "." + name + path, true
		}
	}
	for _, part := range s.AllOf {
		if path, found := b.lostMetadata(part, seen); found {
			return path, true
		}
	}
	if s.Items != nil {
		path, found = b.lostMetadata(s.Items, seen)
		return "[]" + path, found
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		path, found = b.lostMetadata(a.Schema, seen)
		return "[]" + path, found
	}
	return "", false
}

func (b *Builder) lostIn(d *load.TypeDecl, seen []*load.TypeDecl) (path string, found bool) {
	p := known[d.Package.Path]
	if d.Name() == "ObjectMeta" && p.types["ObjectMeta"] != nil {
		return "", true
	}
	if d.Package.Local() || p.closed || slices.Contains(seen, d) {
		return "", false
	}
	return b.lostMetadata(b.schemaOf(d), append(seen, d))
}

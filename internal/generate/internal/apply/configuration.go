package apply

import (
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
)

// suffix ends the names of configurations.
const suffix = "ApplyConfiguration"

// config is a configuration being written.
type config struct {
	*file
	*output
	*configured
	public string // the name of the type
	config string // the name of the configuration
	failed error
}

// configuration is the file of a type.
func (o *output) configuration(of *configured) ([]byte, error) {
	if of.name[0] >= 0x80 {
		return nil, unsupported("a name that does not begin with a letter of ASCII")
	}
	c := &config{file: newFile(o.path), output: o, configured: of, public: public(of.name), config: public(of.name + suffix)}
	if err := c.declaration(); err != nil {
		return nil, err
	}
	hasTypeMeta := embeds(o.world.membersOf(of.typ), (*typ).isTypeMeta)
	c.constructor(hasTypeMeta)
	if c.tags.asked && c.tags.applied && o.isDescribed() {
		c.extractors()
	}
	if o.Form.Marked && (c.tags.asked || hasTypeMeta) {
		if o.Form.Apart {
			c.write("\n")
		}
		c.write("func (b ", c.config, ") IsApplyConfiguration() {}\n")
	}
	var made []string
	c.setters(c.typ, nil, &made)
	c.getters(c.typ, nil)
	if c.failed != nil {
		return nil, c.failed
	}
	return o.finish(strings.ToLower(o.version), c.file)
}

// field is a field of a type, in view of its configuration.
type field struct {
	*member
	tag jsonTag
	// of is the type that it has in a configuration.
	of *typ
	// in is the embedded field whose type it is a field of, if any.
	in *field
}

// applied is the type that a field of a type has in configurations.
func (w *world) applied(t *typ) *typ {
	switch t = t.pointed(); {
	case t.kind == structKind && w.refs[t.full()] != "":
		return &typ{kind: otherKind, pkg: w.refs[t.full()], name: t.name + suffix}
	case t.kind == mapKind && t.pkg == "" && w.refs[t.elem.full()] != "":
		return &typ{kind: mapKind, key: w.applied(t.key), elem: w.applied(t.elem)}
	case t.kind == listKind && t.pkg == "" && w.refs[t.elem.full()] != "":
		return &typ{kind: listKind, elem: w.applied(t.elem)}
	}
	return t
}

// isConfigured reports whether a type, or what it points to, has a configuration.
func (w *world) isConfigured(t *typ) bool {
	t = t.pointed()
	return t.kind == structKind && w.refs[t.full()] != ""
}

// fields are those of a type that configurations have.
func (c *config) fields(t *typ, in *field) (all []*field) {
	for _, m := range c.world.membersOf(t) {
		tag, ok := c.Form.jsonTagOf(m)
		hidden := t.isObjectMeta() && (m.name == "ManagedFields" || m.name == "SelfLink") || strings.HasPrefix(m.name, "ZZZ_")
		if ok && !hidden {
			all = append(all, &field{member: m, tag: tag, of: c.world.applied(m.typ), in: in})
		}
	}
	return all
}

// argument is the type of what a field is set to.
func (c *config) argument(f *field) *typ {
	if c.world.isConfigured(f.typ) {
		return &typ{kind: pointerKind, elem: f.of}
	}
	return f.of
}

// declaration writes the struct.
func (c *config) declaration() error {
	var b strings.Builder
	b.WriteString("// " + c.config + " represents a declarative configuration of the " + c.public + " type for use\n// with apply.\n")
	if text := withoutMarkers(c.doc.lines()); c.Form.Comments && text != "" {
		b.WriteString("//\n" + text)
	}
	b.WriteString("type " + c.config + " struct {\n")
	for _, f := range c.fields(c.typ, nil) {
		if c.Form.Comments && f.field.Syntax != nil {
			b.WriteString(withoutMarkers(c.world.comments.before(f.field.File, f.position())))
		}
		if !f.tag.inline {
			f.tag.omitempty = true
		}
		name := f.name + " "
		if f.embedded {
			name = ""
		}
		if pointer := f.embedded && !f.tag.inline || !f.embedded && !f.typ.isNillable(); pointer {
			name += "*"
		}
		b.WriteString(name + c.names.typ(f.of) + " `json:\"" + c.Form.text(f.tag) + "\"`\n")
	}
	b.WriteString("}\n")
	text, err := formatted(b.String())
	c.write(text)
	return err
}

// constructor writes the function that makes a configuration.
func (c *config) constructor(hasTypeMeta bool) {
	subject, parameters, fills := c.config, "", hasTypeMeta
	if c.tags.asked {
		subject, parameters, fills = c.public, "name, namespace string", true
		if c.tags.nonNamespaced {
			parameters = "name string"
		}
	}
	c.write("\n// ", subject, " constructs a declarative configuration of the ", c.public, " type for use with\n// apply.\n",
		"func ", c.public, "(", parameters, ") *", c.config, " {\n")
	if !fills {
		c.write("\treturn &", c.config, "{}\n}\n")
		return
	}
	c.write("\tb := &", c.config, "{}\n")
	if c.tags.asked {
		c.write("\tb.WithName(name)\n")
		if !c.tags.nonNamespaced {
			c.write("\tb.WithNamespace(namespace)\n")
		}
	}
	c.identify()
	c.write("\treturn b\n}\n")
}

// identify writes what sets the kind of b.
func (c *config) identify() {
	c.write("\tb.WithKind(\"", c.public, "\")\n\tb.WithAPIVersion(\"", c.apiVersion(), "\")\n")
}

// extractors write the functions that get from an object what a manager has applied.
func (c *config) extractors() {
	variable := private(c.name)
	if token.IsKeyword(variable) {
		c.refuse("a variable named " + variable)
	}
	object := c.of(c.Package.Path, c.name)
	if !c.Form.Subresources {
		c.extractStatus(variable, object)
		return
	}
	x := extractor{config: c, variable: variable, object: object, name: "Extract" + c.public}
	x.from()
	x.main()
	for _, subresource := range c.subresources() {
		x.subresource(subresource)
	}
}

// subresources are those of the type by name.
func (c *config) subresources() []string {
	all := slices.Clone(c.tags.subresources)
	if !c.tags.noStatus && slices.ContainsFunc(c.world.membersOf(c.typ), func(m *member) bool { return m.name == "Status" }) {
		all = append(all, "status")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (c *config) openAPIType() string { return schema.DefinitionName(c.decl) }

func (c *config) parser() string { return c.of(path.Join(c.Path, "internal"), "Parser") }

package project

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// heading stands at the top of new files.
const heading = `# The project's description: its APIs and how they are laid out. slipway keeps it
# up to date; keys of other tools, comments and the order of keys are left as they are.`

// Marshal returns the content of the PROJECT file. Of a file that was read only the entries that differ are written:
// all other lines stay byte for byte.
func (p *Project) Marshal() ([]byte, error) {
	doc := p.document()
	p.sync(doc.Content[0])
	if p.src == nil {
		return encode(doc, true)
	}
	before, err := decodeDocument(FileName, p.src)
	if err != nil {
		return nil, err
	}
	if sameNode(before.Content[0], doc.Content[0]) {
		return slices.Clone(p.src), nil
	}
	return edited(p.src, before, doc)
}

// Plugin decodes the facts kept under `plugins.<key>` into a value; it reports
// whether there are any.
func (p *Project) Plugin(key string, into any) (bool, error) {
	if p.doc == nil {
		return false, nil
	}
	plugins, ok := lookup(p.doc.Content[0], "plugins")
	if !ok || plugins.Kind != yaml.MappingNode {
		return false, nil
	}
	facts, ok := lookup(plugins, key)
	if !ok {
		return false, nil
	}
	if err := facts.Decode(into); err != nil {
		return true, &FieldError{Line: facts.Line, Column: facts.Column, Field: "plugins." + key, Problem: "cannot be read: " + err.Error()}
	}
	return true, nil
}

// SetPlugin keeps facts under `plugins.<key>`, in place of earlier ones.
func (p *Project) SetPlugin(key string, facts any) error {
	var node yaml.Node
	if err := node.Encode(facts); err != nil {
		return fmt.Errorf("encode plugins.%s: %w", key, err)
	}
	if p.doc == nil {
		p.doc = newDocument()
	}
	plugins := child(p.doc.Content[0], "plugins", yaml.MappingNode)
	if old, ok := lookup(plugins, key); ok {
		*old = node
		return nil
	}
	insert(plugins, key, &node)
	return nil
}

// DropPlugin removes what is kept under `plugins.<key>`, and `plugins` when nothing else is.
func (p *Project) DropPlugin(key string) {
	if p.doc == nil {
		return
	}
	plugins, ok := lookup(p.doc.Content[0], "plugins")
	if !ok || plugins.Kind != yaml.MappingNode {
		return
	}
	if remove(plugins, key); len(plugins.Content) == 0 {
		remove(p.doc.Content[0], "plugins")
	}
}

// document returns a copy of what was read, or a new document.
func (p *Project) document() *yaml.Node {
	if p.doc == nil {
		return newDocument()
	}
	return cloneNode(p.doc)
}

func newDocument() *yaml.Node {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	return &yaml.Node{Kind: yaml.DocumentNode, HeadComment: heading, Content: []*yaml.Node{root}}
}

// sync makes the mapping of the whole file say what p says.
func (p *Project) sync(root *yaml.Node) {
	setString(root, "domain", p.Domain)
	setString(root, "repo", p.Repo)
	setBool(root, "multigroup", p.MultiGroup)
	setString(root, "version", cmp.Or(p.Version, Version))
	if !p.IsV2() {
		setString(root, "cliVersion", p.CLIVersion)
		setStrings(root, "layout", p.Layout)
		setString(root, "projectName", p.Name)
		setBool(root, "namespaced", p.Namespaced)
	}
	p.syncResources(root)
}

// syncResources keeps the nodes of resources that stay and their order.
func (p *Project) syncResources(root *yaml.Node) {
	if len(p.Resources) == 0 {
		if old, ok := lookup(root, "resources"); ok && len(old.Content) > 0 {
			remove(root, "resources")
		}
		return
	}
	list := child(root, "resources", yaml.SequenceNode)
	old := list.Content
	list.Content = nil
	for _, r := range p.Resources {
		i := slices.IndexFunc(old, func(n *yaml.Node) bool { return describes(n, r) })
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if i >= 0 {
			node = old[i]
			old = slices.Delete(slices.Clone(old), i, i+1)
		}
		if p.IsV2() {
			r = Resource{Group: r.Group, Version: r.Version, Kind: r.Kind}
		}
		r.sync(node)
		list.Content = append(list.Content, node)
	}
}

// describes reports whether node n is the one of r.
func describes(n *yaml.Node, r Resource) bool {
	value := func(key string) string {
		if v, ok := lookup(n, key); ok {
			return v.Value
		}
		return ""
	}
	return value("group") == r.Group && value("version") == r.Version && value("kind") == r.Kind
}

func (r Resource) sync(n *yaml.Node) {
	setString(n, "group", r.Group)
	setString(n, "version", r.Version)
	setString(n, "kind", r.Kind)
	setString(n, "domain", r.Domain)
	setString(n, "plural", r.Plural)
	setString(n, "path", r.Path)
	setBool(n, "controller", r.Controller)
	setBool(n, "core", r.Core)
	setBool(n, "external", r.External)
	setString(n, "module", r.Module)
	r.API.sync(n)
	r.Webhooks.sync(n)
	syncControllers(n, r.Controllers)
}

func (a *API) sync(n *yaml.Node) {
	if a == nil {
		remove(n, "api")
		return
	}
	n = child(n, "api", yaml.MappingNode)
	setString(n, "crdVersion", a.CRDVersion)
	setBool(n, "namespaced", a.Namespaced)
	setBool(n, "ssa", a.SSA)
}

func (w *Webhooks) sync(n *yaml.Node) {
	if w == nil {
		remove(n, "webhooks")
		return
	}
	n = child(n, "webhooks", yaml.MappingNode)
	setString(n, "webhookVersion", w.WebhookVersion)
	setBool(n, "defaulting", w.Defaulting)
	setBool(n, "validation", w.Validation)
	setBool(n, "conversion", w.Conversion)
	setStrings(n, "spoke", w.Spoke)
	setString(n, "defaultingPath", w.DefaultingPath)
	setString(n, "validationPath", w.ValidationPath)
}

// syncControllers keeps the nodes of controllers that stay.
func syncControllers(n *yaml.Node, controllers []Controller) {
	if len(controllers) == 0 {
		if old, ok := lookup(n, "controllers"); ok && len(old.Content) > 0 {
			remove(n, "controllers")
		}
		return
	}
	list := child(n, "controllers", yaml.SequenceNode)
	old := list.Content
	list.Content = nil
	for _, c := range controllers {
		i := slices.IndexFunc(old, func(n *yaml.Node) bool {
			v, ok := lookup(n, "name")
			return ok && v.Value == c.Name
		})
		if i >= 0 {
			list.Content = append(list.Content, old[i])
			continue
		}
		item := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		setString(item, "name", c.Name)
		list.Content = append(list.Content, item)
	}
}

package crd

import (
	"maps"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
)

// printing is how definitions become files.
type printing struct {
	schema                schema.Writing
	header                string
	toolVersion           string // "" leaves the annotation out
	preserveUnknownFields *bool
}

// printed is a definition with its file's content.
type printed struct {
	*definition
	content    []byte
	unreadable []yaml.Place
}

// press prints definitions one after the other, in a goroutine of its own: most of what is in one of them comes again
// in others.
type press struct {
	in  chan *definition
	out chan []printed
}

func (p printing) start() press {
	pr := press{in: make(chan *definition), out: make(chan []printed)}
	go func() { pr.out <- p.printAll(pr.in) }()
	return pr
}

func (p press) print(d *definition) { p.in <- d }

// end returns all definitions when they are printed.
func (p press) end() []printed {
	close(p.in)
	return <-p.out
}

func (p printing) printAll(definitions <-chan *definition) []printed {
	p.schema.Memo = yaml.NewMemo[*schema.Schema]()
	w := printer{yaml.NewWriter(), p}
	var all []printed
	for d := range definitions {
		w.document(d)
		unreadable := w.Unreadable()
		all = append(all, printed{d, p.schema.Memo.End(w.Writer), unreadable})
	}
	return all
}

func (p printer) document(d *definition) {
	p.Preamble(p.header + "---\n")
	p.BeginMap()
	p.text("apiVersion", "apiextensions.k8s.io/v1")
	p.text("kind", "CustomResourceDefinition")
	p.Key("metadata")
	p.metadata(d)
	p.Key("spec")
	p.spec(d)
	p.EndMap()
}

type printer struct {
	*yaml.Writer
	printing
}

func (p printer) metadata(d *definition) {
	annotations := maps.Clone(d.Annotations)
	if p.toolVersion != "" {
		if annotations == nil {
			annotations = make(map[string]string)
		}
		annotations[arguments.VersionAnnotation] = p.toolVersion
	}
	p.BeginMap()
	p.pairs("annotations", annotations)
	p.pairs("labels", d.Labels)
	p.text("name", d.Plural+"."+d.Group)
	p.EndMap()
}

func (p printer) spec(d *definition) {
	p.BeginMap()
	p.text("group", d.Group)
	p.Key("names")
	p.BeginMap()
	p.texts("categories", d.Categories)
	p.text("kind", d.Kind)
	p.text("listKind", d.Kind+"List")
	p.text("plural", d.Plural)
	p.texts("shortNames", d.ShortNames)
	p.some("singular", d.Singular)
	p.EndMap()
	if p.preserveUnknownFields != nil {
		p.flag("preserveUnknownFields", *p.preserveUnknownFields)
	}
	p.text("scope", d.Scope)
	p.Key("versions")
	p.BeginSeq()
	for _, v := range d.Versions {
		p.version(v)
	}
	p.EndSeq()
	p.EndMap()
}

func (p printer) version(v *version) {
	p.BeginMap()
	p.columns(v.Columns)
	if v.Deprecated {
		p.flag("deprecated", true)
	}
	if v.Warning != nil {
		p.text("deprecationWarning", *v.Warning)
	}
	p.text("name", v.Name)
	p.Key("schema")
	p.BeginMap()
	p.Key("openAPIV3Schema")
	v.Schema.Write(p.Writer, p.schema)
	p.EndMap()
	p.selectable(v.Selectable)
	p.flag("served", v.Served)
	p.flag("storage", v.Storage)
	if v.HasSubresources {
		p.Key("subresources")
		p.subresources(v)
	}
	p.EndMap()
}

func (p printer) columns(columns []printColumn) {
	if len(columns) == 0 {
		return
	}
	p.Key("additionalPrinterColumns")
	p.BeginSeq()
	for _, c := range columns {
		p.BeginMap()
		p.some("description", c.Description)
		p.some("format", c.Format)
		p.text("jsonPath", c.JSONPath)
		p.text("name", c.Name)
		if c.Priority != 0 {
			p.Key("priority")
			p.Int(int64(c.Priority))
		}
		p.text("type", c.Type)
		p.EndMap()
	}
	p.EndSeq()
}

func (p printer) selectable(paths []string) {
	if len(paths) == 0 {
		return
	}
	p.Key("selectableFields")
	p.BeginSeq()
	for _, path := range paths {
		p.BeginMap()
		p.text("jsonPath", path)
		p.EndMap()
	}
	p.EndSeq()
}

func (p printer) subresources(v *version) {
	p.BeginMap()
	if s := v.Scale; s != nil {
		p.Key("scale")
		p.BeginMap()
		if s.SelectorPath != nil {
			p.text("labelSelectorPath", *s.SelectorPath)
		}
		p.text("specReplicasPath", s.SpecPath)
		p.text("statusReplicasPath", s.StatusPath)
		p.EndMap()
	}
	if v.Status {
		p.Key("status")
		p.BeginMap()
		p.EndMap()
	}
	p.EndMap()
}

func (p printer) text(key, text string) {
	p.Key(key)
	p.String(text)
}

// some writes text unless it is empty.
func (p printer) some(key, text string) {
	if text != "" {
		p.text(key, text)
	}
}

func (p printer) flag(key string, set bool) {
	p.Key(key)
	p.Bool(set)
}

func (p printer) texts(key string, texts []string) {
	if len(texts) == 0 {
		return
	}
	p.Key(key)
	p.BeginSeq()
	for _, t := range texts {
		p.String(t)
	}
	p.EndSeq()
}

func (p printer) pairs(key string, pairs map[string]string) {
	if len(pairs) == 0 {
		return
	}
	p.Key(key)
	p.BeginMap()
	for _, k := range yaml.Sorted(maps.Keys(pairs)) {
		p.text(k, pairs[k])
	}
	p.EndMap()
}

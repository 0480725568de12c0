package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"go/token"
	"slices"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
	"github.com/slipway-dev/slipway/internal/generate/source"
)

// Options are the generator's options.
type Options struct {
	// HeaderFile is a file with the text that the manifest begins with.
	HeaderFile string `marker:"headerFile,optional" doc:"is the file with name a file with the first lines of generated files"`
	// Year replaces YEAR in it.
	Year string `marker:"year,optional" doc:"replaces YEAR in that text"`
}

// Generator is the generator "webhook".
func Generator() generator.Generator {
	markers := marker.In("Webhook",
		source.WebhookDefinition(),
		marker.Define[configuration](configurationMarker, marker.Package, "names the object that holds the mutating or the validating webhooks"),
	)
	g := generator.New("webhook", "writes the configurations of admission webhooks", markers, run)
	g.Noted = true
	return g
}

func run(_ context.Context, pass *generator.Pass, options Options) error {
	header, err := pass.Header(options.HeaderFile, options.Year)
	if err != nil {
		return err
	}
	c := collector{
		pass:       pass,
		mutating:   object{kind: "MutatingWebhookConfiguration", standard: "mutating-webhook-configuration"},
		validating: object{kind: "ValidatingWebhookConfiguration", standard: "validating-webhook-configuration"},
	}
	roots := pass.Roots
	if !pass.Loader.Edition().Webhooks.Sorted {
		roots = pass.Loader.InBuildOrder(roots)
	}
	for _, root := range roots {
		c.collect(root)
	}
	content := []byte(header)
	found := false
	for _, o := range []*object{&c.mutating, &c.validating} {
		if len(o.webhooks) == 0 {
			continue
		}
		found = true
		c.complete(o)
		c.reportVersions(o)
		document, err := o.document()
		if err != nil {
			return err
		}
		content = append(append(content, "---\n"...), document...)
	}
	if found {
		pass.Config("manifests.yaml", content)
	}
	return nil
}

// object is one of the two objects that are written.
type object struct {
	kind     string
	name     string // what a marker of the last package that has one says
	standard string // the name without one
	webhooks []webhook
}

// webhook is a webhook with the place of its marker.
type webhook struct {
	admission.MutatingWebhook
	pos token.Pos
}

// document is the object as YAML.
func (o *object) document() ([]byte, error) {
	webhooks := make([]admission.MutatingWebhook, len(o.webhooks))
	for i, w := range o.webhooks {
		webhooks[i] = w.MutatingWebhook
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": admission.SchemeGroupVersion.String(),
		"kind":       o.kind,
		"metadata":   map[string]string{"name": cmp.Or(o.name, o.standard)},
		"webhooks":   webhooks,
	})
	if err != nil {
		return nil, err
	}
	w := yaml.NewWriter()
	err = w.JSON(text)
	return w.Bytes(), err
}

// collector fills the objects from the markers of packages.
type collector struct {
	pass                 *generator.Pass
	mutating, validating object
}

func (c *collector) object(mutating bool) *object {
	if mutating {
		return &c.mutating
	}
	return &c.validating
}

func (c *collector) collect(root *load.Package) {
	var declared []marker.Value
	named := make(map[bool]bool)
	for _, value := range root.Markers() {
		switch data := value.Data.(type) {
		case source.Webhook:
			declared = append(declared, value)
		case configuration:
			c.name(data, named[data.Mutating], value.Pos)
			named[data.Mutating] = true
		}
	}
	slices.SortStableFunc(declared, func(a, b marker.Value) int {
		return strings.Compare(a.Data.(source.Webhook).Name, b.Data.(source.Webhook).Name)
	})
	for _, value := range declared {
		c.declare(declaration(value.Data.(source.Webhook)), value.Pos)
	}
}

// name gives an object its name; a package may do so once.
func (c *collector) name(data configuration, again bool, pos token.Pos) {
	o := c.object(data.Mutating)
	if again {
		tell(c.pass, configurationMarker, pos, fatal("a second marker in the package names the "+o.kind, "remove one"))
	}
	if !yaml.Readable(data.Name) {
		tell(c.pass, configurationMarker, pos, fatal(yaml.Refusal, yaml.Remedy))
	}
	o.name = data.Name
}

// declare adds a webhook.
func (c *collector) declare(d declaration, pos token.Pos) {
	w, problems := d.webhook()
	w, err := patched(w, d.Patch, d.Mutating)
	if err != nil {
		problems = append(problems, fatal("patch: "+err.Error(), "write a strategic merge patch of the webhook, as JSON between backticks"))
	} else {
		problems = append(problems, check(w)...)
	}
	if text, err := json.Marshal(w); err != nil || !yaml.Readable(string(text)) {
		problems = append(problems, fatal(yaml.Refusal, yaml.Remedy))
	}
	tell(c.pass, source.WebhookMarker, pos, problems...)
	o := c.object(d.Mutating)
	o.webhooks = append(o.webhooks, webhook{w, pos})
}

// complete orders the webhooks and tells names that are there twice.
func (c *collector) complete(o *object) {
	// Webhooks of one name come as this unstable sorting leaves them, which is
	// always the same and as controller-gen has it.
	if c.pass.Loader.Edition().Webhooks.Sorted {
		slices.SortFunc(o.webhooks, func(a, b webhook) int { return strings.Compare(a.Name, b.Name) })
	}
	named := make(map[string]webhook)
	for _, w := range o.webhooks {
		if other, again := named[w.Name]; again {
			tell(c.pass, source.WebhookMarker, w.pos, warning("the name "+quoted(w.Name)+" belongs to the webhook at "+c.pass.Loader.ShortPosition(other.pos).String()+"; the API server refuses this", "use another name"))
		}
		named[w.Name] = w
	}
}

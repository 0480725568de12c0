package devloop

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// errBreaking is why CRDs are not applied.
var errBreaking = errors.New("objects in the cluster may be invalid by it")

// destructive are the rules of changes by which objects lose data, or cannot be read any more. Of others, such as a
// smaller maximum, only later writes can fail: they are warned of.
var destructive = []string{"definitionRemoval", "versionRemoval", "versionServed", "storedVersionRemoval", "existingFieldRemoval", "type", "scope"}

// comparison is of definitions that have objects: as the cluster has them, and as they are to be.
type comparison struct {
	before, after []crdcheck.File
	name          string // of one of them
}

// refuseBreaking refuses definitions by which objects in the cluster would lose data, before anything is applied. Where
// that cannot be, since the new definitions have all fields and types of those before, the comparison is left for
// [project.warnBreaking]: it takes longer than all else that a changed marker makes necessary.
func (p *project) refuseBreaking(ctx context.Context, cluster *ship.Cluster, definitions []*unstructured.Unstructured) error {
	p.doubtful = nil
	if p.settings.Force {
		return nil
	}
	inhabited, err := cluster.Inhabited(ctx, definitions)
	if err != nil || len(inhabited) == 0 {
		return err
	}
	c, keeps := &comparison{name: inhabited[0].GetName()}, true
	for _, live := range inhabited {
		for _, d := range definitions {
			if d.GetName() != live.GetName() {
				continue
			}
			keeps = keeps && keepsData(live.Object["spec"], d.Object["spec"])
			if err := c.add(live, d); err != nil {
				return err
			}
		}
	}
	if keeps {
		p.doubtful = c
		return nil
	}
	broken, err := p.compare(ctx, c)
	if err != nil || len(broken) == 0 {
		return err
	}
	return &report.Error{What: operation.Count(len(broken), "breaking change") + " of CRDs with objects: " + strings.Join(broken, "; "), Err: errBreaking,
		Hint: "add a new version, delete the objects, or start dev with --force", Next: "slipway kubectl delete --all --all-namespaces " + c.name}
}

// warnBreaking warns of changes by which later writes can fail, once they are applied.
func (p *project) warnBreaking(ctx context.Context) error {
	c := p.doubtful
	p.doubtful = nil
	if c == nil || slices.EqualFunc(c.before, c.after, func(a, b crdcheck.File) bool { return a.Content == b.Content }) {
		return nil
	}
	_, err := p.compare(ctx, c)
	return err
}

// compare warns of breaking changes, and returns those by which objects lose data.
func (p *project) compare(ctx context.Context, c *comparison) (broken []string, err error) {
	changes, err := crdcheck.New(p.session.Getenv, p.handler).Compare(ctx, c.before, c.after)
	if errors.Is(err, crdcheck.ErrUnavailable) || crdcheck.Off(p.session.Getenv) {
		return nil, nil // which installing reports
	}
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		switch {
		case c.Breaking && slices.Contains(destructive, c.Rule):
			broken = append(broken, c.String())
		case c.Breaking:
			p.handler.Handle(report.Warning{Text: "objects in the cluster may be invalid now: " + c.String()})
		}
	}
	return broken, nil
}

// add adds a definition as it is and as it is to be.
func (c *comparison) add(live, next *unstructured.Unstructured) (err error) {
	if c.before, err = appendText(c.before, live); err != nil {
		return err
	}
	c.after, err = appendText(c.after, next)
	return err
}

// constraints are the parts of a definition that can make an object invalid, but lose no data of it, or describe it.
// Conversions are not the loop's.
var constraints = []string{"description", "title", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems",
	"uniqueItems", "maxProperties", "minProperties", "multipleOf", "enum", "required", "x-kubernetes-validations", "default", "example", "externalDocs", "format",
	"additionalPrinterColumns", "selectableFields", "names", "conversion", "deprecated", "deprecationWarning", "nullable"}

// keepsData reports whether a part of a definition differs from what it was by constraints only, or by fields that are
// new. It says no in doubt.
func keepsData(was, is any) bool {
	switch was := was.(type) {
	case map[string]any:
		is, same := is.(map[string]any)
		if !same {
			return false
		}
		for key, value := range was {
			if properties, of := value.(map[string]any); of && key == "properties" {
				now, _ := is[key].(map[string]any)
				for name, field := range properties {
					if !keepsData(field, now[name]) {
						return false
					}
				}
				continue
			}
			if !slices.Contains(constraints, key) && !keepsData(value, is[key]) {
				return false
			}
		}
		for key := range is {
			if _, known := was[key]; !known && key != "properties" && !slices.Contains(constraints, key) {
				return false
			}
		}
		return true
	case []any:
		is, same := is.([]any)
		return same && slices.EqualFunc(was, is, keepsData)
	}
	return reflect.DeepEqual(was, is)
}

// appendText adds the text of a definition.
func appendText(files []crdcheck.File, definition *unstructured.Unstructured) ([]crdcheck.File, error) {
	text, err := yaml.Marshal(map[string]any{"apiVersion": definition.GetAPIVersion(), "kind": definition.GetKind(),
		"metadata": map[string]any{"name": definition.GetName()}, "spec": definition.Object["spec"]})
	if err != nil {
		return nil, err
	}
	return append(files, crdcheck.File{Name: definition.GetName(), Content: string(text)}), nil
}

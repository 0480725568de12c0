package devloop

import (
	"context"
	"errors"
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

// refuseBreaking refuses definitions that break objects which the cluster has, before anything is applied.
func (p *project) refuseBreaking(ctx context.Context, cluster *ship.Cluster, definitions []*unstructured.Unstructured) error {
	if p.settings.Force {
		return nil
	}
	inhabited, err := cluster.Inhabited(ctx, definitions)
	if err != nil || len(inhabited) == 0 {
		return err
	}
	var before, after []crdcheck.File
	for _, live := range inhabited {
		if before, err = appendText(before, live); err != nil {
			return err
		}
		for _, d := range definitions {
			if d.GetName() != live.GetName() {
				continue
			}
			if after, err = appendText(after, d); err != nil {
				return err
			}
		}
	}
	changes, err := crdcheck.New(p.session.Getenv, p.handler).Compare(ctx, before, after)
	if errors.Is(err, crdcheck.ErrUnavailable) || crdcheck.Off(p.session.Getenv) {
		return nil // which installing reports
	}
	if err != nil {
		return err
	}
	var broken []string
	for _, c := range changes {
		switch {
		case c.Breaking && slices.Contains(destructive, c.Rule):
			broken = append(broken, c.String())
		case c.Breaking:
			p.handler.Handle(report.Warning{Text: "objects in the cluster may be invalid now: " + c.String()})
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return &report.Error{What: operation.Count(len(broken), "breaking change") + " of CRDs with objects: " + strings.Join(broken, "; "), Err: errBreaking,
		Hint: "add a new version, delete the objects, or start dev with --force", Next: "slipway kubectl delete --all --all-namespaces " + inhabited[0].GetName()}
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

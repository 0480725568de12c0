package ship

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// DefinitionState is a CRD of the operator, and how many objects of its kind there are.
type DefinitionState struct {
	Name        string   `json:"name"`
	Storage     string   `json:"storageVersion"`
	Stored      []string `json:"storedVersions"` // in which objects may be stored
	Established bool     `json:"established"`
	Objects     int      `json:"objects"`
	NotReady    int      `json:"notReady"`
	Stuck       int      `json:"stuck"` // wait for finalizers
}

// definition looks at a CRD and at the objects of its kind.
func (l *inspection) definition(ctx context.Context, live *unstructured.Unstructured) {
	state := DefinitionState{Name: live.GetName(), Storage: storageVersion(live)}
	state.Stored, _, _ = unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
	for _, condition := range conditions(live) {
		state.Established = state.Established || condition.kind == "Established" && condition.status == "True"
	}
	defer func() { l.state.Definitions = append(l.state.Definitions, state) }()
	if !state.Established {
		reason := report.Unready{Object: *refOf(live), Reason: "NotEstablished"}
		if why := complaint(live); why != nil {
			reason.Message = brief(why.Error())
		}
		l.state.NotReady = append(l.state.NotReady, reason)
		return
	}
	served := servedResources(live)
	if len(served) == 0 {
		return
	}
	err := eachPage(ctx, l.cluster.quiet.Resource(served[0]), func(objects []unstructured.Unstructured) error {
		for i := range objects {
			l.object(ctx, &objects[i], &state)
		}
		return nil
	})
	if err != nil {
		l.unknown("the objects of "+live.GetName(), err)
	}
}

package apiserver

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/networking"
)

// warnings are those of a request.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

// TestPolicyWarning: a NetworkPolicy draws a warning, and nothing else does.
func TestPolicyWarning(t *testing.T) {
	for name, tt := range map[string]struct {
		resource    schema.GroupResource
		subresource string
		want        []string
	}{
		"policy":  {networking.Resource("networkpolicies"), "", []string{unenforced}},
		"status":  {networking.Resource("networkpolicies"), "status", nil},
		"ingress": {networking.Resource("ingresses"), "", nil},
		"pod":     {core.Resource("pods"), "", nil},
	} {
		var got warnings
		ctx := warning.WithWarningRecorder(context.Background(), &got)
		a := admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{}, "default", "p", tt.resource.WithVersion("v1"), tt.subresource,
			admission.Create, &metav1.CreateOptions{}, false, nil)
		if err := (policyWarner{}).Validate(ctx, a, nil); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

package explain

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/ship"
)

var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// undefined judges an object whose kind is not served, though there is a definition.
func (s *scene) undefined() {
	reason, message := undefinedBecause(s.definition)
	if reason == "" {
		reason, message = "NotServed", "its CRD is established, and serves none of its versions"
	}
	s.elsewhere(refused, refOf(s.definition), reason, "%s", message).Next = command("slipway kubectl get crd %s -o yaml", s.definition.GetName())
}

// undefinedBecause says why a definition is not served.
func undefinedBecause(definition *unstructured.Unstructured) (reason, message string) {
	all := conditionsOf(definition)
	if definition.GetDeletionTimestamp() != nil {
		if c, is := find(all, "Terminating"); is && c.status == "True" {
			return "CRDDeleted", "the CRD is being deleted: " + plainly(c.text())
		}
		return "CRDDeleted", "the CRD is being deleted"
	}
	for _, kind := range []string{"NamesAccepted", "Established"} {
		if c, is := find(all, kind); is && c.status == "False" {
			return c.reason, "the CRD is not established: " + plainly(c.text())
		}
	}
	if c, is := find(all, "NonStructuralSchema"); is && c.status == "True" {
		return c.reason, "the CRD has no structural schema: " + plainly(c.text())
	}
	if len(all) == 0 {
		return "NotEstablished", "the API server has not established the CRD yet"
	}
	return "", ""
}

// operator looks at the operator that works on the object, if that explains more than is known.
func (s *scene) operator(ctx context.Context, top *member) {
	if s.definition == nil || top.state == Ready && top.says || top.state == Missing {
		return
	}
	project, state, found, err := s.cluster.OperatorOf(ctx, s.definition)
	if err != nil {
		s.unread("the operator", err)
		return
	}
	if !found {
		return
	}
	for _, u := range state.NotReady {
		c := s.elsewhere(operating, u.Object, u.Reason, "the operator %s does not work: %s", project, u.Message)
		c.Container, c.Probe, c.Next = u.Container, u.Probe, "slipway status"
	}
	for _, w := range state.Workloads {
		if w.Simulated {
			s.elsewhere(operating, w.Object, "SimulatedPods", "the pods of the operator %s are simulated, so no container runs", project).Next = "slipway status"
		}
		if w.Replicas == 0 {
			s.elsewhere(operating, w.Object, "ScaledDown", "the operator %s is scaled to 0 replicas", project).Next = command("slipway kubectl scale -n %s deployment %s --replicas=1", w.Object.Namespace, w.Object.Name)
		}
	}
	leads := slices.ContainsFunc(state.Leaders, func(l ship.LeaderState) bool { return !l.Expired })
	for _, l := range state.Leaders {
		if l.Expired && !leads { // an older version may have left its own
			s.elsewhere(operating, l.Lease, "LeaderLost", "no pod of the operator %s leads: %s has renewed its Lease last at %s", project, l.Holder, l.Renewed.UTC().Format(time.DateTime)).Next = "slipway status"
		}
	}
}

package ship

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/report"
)

// plainNode is the label of nodes whose pods are plain processes: all of them have the ports of one machine.
const plainNode = "slipway.dev/plain-node"

// warnOfPorts tells of workloads whose pods are in each other's way where pods share a machine's ports.
func (c *Cluster) warnOfPorts(ctx context.Context, objects []*unstructured.Unstructured) {
	var many, rolled []string
	for _, object := range objects {
		port := fixedPort(object)
		if port == 0 {
			continue
		}
		if !c.sharesPorts(ctx) {
			return
		}
		if n := replicas(object); n > 1 {
			many = append(many, fmt.Sprintf("%s (%d replicas, port %d)", nameOf(object), n, port))
		}
		if c.rolls(ctx, object) {
			rolled = append(rolled, fmt.Sprintf("%s (port %d)", nameOf(object), port))
		}
	}
	const shared = "the cluster's pods share this machine's ports, since its nodes are plain: "
	if len(many) > 0 {
		c.handler.Handle(report.Warning{Text: shared + "`replicas: 1` is the limit for " + strings.Join(many, ", ")})
	}
	if len(rolled) > 0 {
		c.handler.Handle(report.Warning{Text: shared + "a rollout cannot finish without `strategy: {type: Recreate}` in the spec of " + strings.Join(rolled, ", ")})
	}
}

// sharesPorts tells whether the cluster has nodes whose pods are plain processes.
func (c *Cluster) sharesPorts(ctx context.Context) bool {
	found, err := c.objects.Resource(nodeResource).List(ctx, metav1.ListOptions{LabelSelector: plainNode, Limit: 1})
	return err == nil && len(found.Items) > 0
}

// nodeResource is where nodes are.
var nodeResource = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}

// replicas is how many pods a workload wants.
func replicas(workload *unstructured.Unstructured) int64 {
	n, found, _ := unstructured.NestedInt64(workload.Object, "spec", "replicas")
	if !found {
		return 1
	}
	return n
}

// fixedPort is a port that each pod of a workload serves on, 0 for none that is known.
func fixedPort(workload *unstructured.Unstructured) int64 {
	containers, _, _ := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", "containers")
	for _, item := range containers {
		container, _ := item.(map[string]any)
		ports, _, _ := unstructured.NestedSlice(container, "ports")
		for _, item := range ports {
			port, _ := item.(map[string]any)
			if n, _, _ := unstructured.NestedInt64(port, "containerPort"); n > 0 {
				return n
			}
		}
		if n := probedPort(container); n > 0 {
			return n
		}
	}
	return 0
}

// probedPort is a port that a container answers probes on, 0 for none; names of ports are those of its declared ones.
func probedPort(container map[string]any) int64 {
	for _, probe := range []string{"readinessProbe", "livenessProbe", "startupProbe"} {
		for _, how := range []string{"httpGet", "tcpSocket", "grpc"} {
			if n, _, _ := unstructured.NestedInt64(container, probe, how, "port"); n > 0 {
				return n
			}
		}
	}
	return 0
}

// rolls tells whether applying a Deployment replaces pods that run by new ones beside them. What cannot be had is not
// warned of.
func (c *Cluster) rolls(ctx context.Context, object *unstructured.Unstructured) bool {
	if kindOf(object) != deploymentKind {
		return false
	}
	resource, object, err := c.locate(ctx, object, 0)
	if err != nil {
		return false
	}
	before, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
	if err != nil {
		return false
	}
	text, err := json.Marshal(object)
	if err != nil {
		return false
	}
	after, err := resource.Patch(ctx, object.GetName(), types.ApplyPatchType, text, metav1.PatchOptions{
		FieldManager: FieldManager, Force: new(true), DryRun: []string{metav1.DryRunAll},
	})
	if err != nil {
		return false
	}
	running, _, _ := unstructured.NestedInt64(before.Object, "status", "replicas")
	strategy, _, _ := unstructured.NestedString(after.Object, "spec", "strategy", "type")
	return running > 0 && strategy != "Recreate" && !reflect.DeepEqual(template(before), template(after))
}

// template is what a workload makes its pods of.
func template(workload *unstructured.Unstructured) any {
	return workload.Object["spec"].(map[string]any)["template"]
}

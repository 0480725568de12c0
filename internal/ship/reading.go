package ship

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/internal/report"
)

// The functions of this file are for those who look at a cluster. They write nothing there.

// Served is a resource that a cluster serves, in the version that it prefers.
type Served struct {
	schema.GroupVersionResource
	Kind       string
	Singular   string
	Short      []string
	Namespaced bool
	Collected  bool // its objects can be listed, watched and deleted, so that the garbage collector knows their owners
}

// GroupKind is the kind of its objects.
func (s Served) GroupKind() schema.GroupKind { return schema.GroupKind{Group: s.Group, Kind: s.Kind} }

// In is where the objects of a namespace are read. Of resources without namespaces, it is the only place.
func (s Served) In(client dynamic.Interface, namespace string) dynamic.ResourceInterface {
	if !s.Namespaced {
		return client.Resource(s.GroupVersionResource)
	}
	return client.Resource(s.GroupVersionResource).Namespace(namespace)
}

// discovered is what is used of the answer of aggregated discovery. See KEP-3352 and k8s.io/api/apidiscovery/v2.
type discovered struct {
	Items []struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Versions []struct {
			Version   string `json:"version"`
			Resources []struct {
				Resource         string                  `json:"resource"`
				ResponseKind     metav1.GroupVersionKind `json:"responseKind"`
				Scope            string                  `json:"scope"`
				SingularResource string                  `json:"singularResource"`
				ShortNames       []string                `json:"shortNames"`
				Verbs            []string                `json:"verbs"`
			} `json:"resources"`
		} `json:"versions"`
	} `json:"items"`
}

const acceptDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Served lists what the cluster serves, each kind in the version that the server prefers.
func (c *Cluster) Served(ctx context.Context) (all []Served, err error) {
	var found [2]discovered
	group, asking := errgroup.WithContext(ctx)
	for i, root := range []string{"/api", "/apis"} {
		group.Go(func() error { return c.catalog.getAs(asking, root, acceptDiscovery, &found[i]) })
	}
	if err := group.Wait(); err != nil {
		return nil, c.explain(ctx, err)
	}
	known := map[schema.GroupResource]bool{}
	for _, group := range slices.Concat(found[0].Items, found[1].Items) {
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				at := schema.GroupVersionResource{Group: group.Metadata.Name, Version: version.Version, Resource: r.Resource}
				if known[at.GroupResource()] || r.ResponseKind.Kind == "" {
					continue
				}
				known[at.GroupResource()] = true
				all = append(all, Served{at, r.ResponseKind.Kind, r.SingularResource, r.ShortNames, r.Scope == "Namespaced", isCollected(r.Verbs)})
			}
		}
	}
	return all, nil
}

// isCollected reports whether verbs are those of a resource that the garbage collector looks after.
func isCollected(verbs []string) bool {
	return slices.Contains(verbs, "list") && slices.Contains(verbs, "watch") && slices.Contains(verbs, "delete")
}

// Reader reads objects. The server's warnings about their kinds are dropped.
func (c *Cluster) Reader() dynamic.Interface { return c.quiet }

// Metadata reads the metadata of objects alone, which is fast for many. The server's warnings are dropped, too.
func (c *Cluster) Metadata() (metadata.Interface, error) {
	config := metadata.ConfigFor(c.config)
	config.WarningHandlerWithContext = rest.NoWarnings{}
	return metadata.NewForConfig(config)
}

// Unready says why a pod is not ready, as far as its status and logs do. Logs are the ends of those of containers that
// do not run or are not ready.
func (c *Cluster) Unready(ctx context.Context, pod corev1.Pod) (reasons []report.Unready, logs map[string][]string) {
	d := diagnosis{object: report.ObjectRef{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, logs: map[string][]string{}}
	c.diagnoseStatus(ctx, pod, &d)
	return d.unready, d.logs
}

// EndedLog is the end of the log of a container before it was started again.
func (c *Cluster) EndedLog(ctx context.Context, pod corev1.Pod, container string) []string {
	log := c.logOf(ctx, pod, container, true)
	return log[max(0, len(log)-quotedLines):]
}

// OperatorOf looks at the operator that was deployed with an object, such as the definition of a kind. Found is false
// if no deployment of slipway's has it. Objects of the operator's kinds are not looked at.
func (c *Cluster) OperatorOf(ctx context.Context, object *unstructured.Unstructured) (project string, state State, found bool, err error) {
	id := object.GetLabels()[partOfLabel]
	if id == "" {
		return "", State{}, false, nil
	}
	parents, err := c.quiet.Resource(configMapResource).List(ctx, metav1.ListOptions{LabelSelector: setLabel + "=" + id})
	if err != nil || len(parents.Items) != 1 {
		return "", State{}, false, err
	}
	parent := parents.Items[0]
	set := &Set{Project: strings.TrimPrefix(parent.GetName(), tool+"-"), Namespace: parent.GetNamespace()}
	members, err := c.Members(ctx, set)
	if err != nil {
		return set.Project, State{}, false, err
	}
	members = slices.DeleteFunc(members, IsDefinition)
	state, err = c.State(ctx, members)
	return set.Project, state, slices.ContainsFunc(members, IsWorkload), err
}

// Silent says why a Service does not answer for webhooks, with a reason as Kubernetes has it; "" if it answers, or if
// that cannot be found out, as with simulated pods.
func (c *Cluster) Silent(ctx context.Context, namespace, name string, port int64) (reason, problem string, err error) {
	service := called{namespace, name, port}
	found, pods, err := c.behind(ctx, service)
	switch {
	case apierrors.IsNotFound(err):
		return "NoService", "the Service does not exist", nil
	case err != nil || len(found.Spec.Selector) == 0: // others say where it leads
		return "", "", err
	case !slices.ContainsFunc(pods, podReady):
		return "NoReadyPod", "no pod of the Service is ready", nil
	}
	if nodes := c.simulatedNodes(ctx); slices.ContainsFunc(pods, func(p corev1.Pod) bool { return slices.Contains(nodes, p.Spec.NodeName) }) {
		return "", "", nil
	}
	missing, err := c.unanswered(ctx, service)
	if err != nil || missing == nil {
		return "", "", err
	}
	return "NoAnswer", missing.who.String() + ": " + brief(missing.why.Error()), nil
}

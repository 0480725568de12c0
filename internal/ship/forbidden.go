package ship

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// forbidden matches what the API server says to those who may not; the group is empty for the core group, and the
// namespace is absent for requests about the whole cluster.
var forbidden = lazy.Regexp(`(?:User \\?"([^"\\]+)\\?" )?cannot ([a-z]+) resource \\?"([a-z/]+)\\?" in API group \\?"([a-z0-9.-]*)\\?"(?: in the namespace \\?"([a-z0-9-]+)\\?")?`)

// A refusal is what a line of a log says was forbidden.
type refusal struct{ user, verb, resource, group, namespace string }

// refusals are those of lines of a log, each once.
func refusals(log []string) (all []refusal) {
	for _, line := range log {
		for _, match := range forbidden().FindAllStringSubmatch(line, -1) {
			if r := (refusal{match[1], match[2], match[3], match[4], match[5]}); !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all
}

// missing are the RBAC markers that would allow what lines of a log say was forbidden, and still is: lines may be older
// than the role that allows it. If the user of the kubeconfig may not ask for that, all lines count.
func (c *Cluster) missing(ctx context.Context, log []string) []string {
	return missingMarkers(slices.DeleteFunc(refusals(log), func(r refusal) bool { return c.allows(ctx, r) }))
}

// allows reports whether the API server would allow now what it refused.
func (c *Cluster) allows(ctx context.Context, r refusal) bool {
	resource, part, _ := strings.Cut(r.resource, "/")
	attributes := map[string]any{"verb": r.verb, "group": r.group, "resource": resource, "subresource": part, "namespace": r.namespace}
	groups := []any{"system:authenticated"}
	if account, is := strings.CutPrefix(r.user, "system:serviceaccount:"); is {
		namespace, _, _ := strings.Cut(account, ":")
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	review := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"user": r.user, "groups": groups, "resourceAttributes": attributes}}}
	review.SetGroupVersionKind(authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"))
	answer, err := c.quiet.Resource(authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews")).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false
	}
	allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed
}

// missingMarkers returns the RBAC markers that would allow what was forbidden, each once.
func missingMarkers(all []refusal) []string {
	verbs := map[[2]string][]string{} // by group and resource
	var order [][2]string
	for _, r := range all {
		what := [2]string{r.group, r.resource}
		if _, known := verbs[what]; !known {
			order = append(order, what)
		}
		if !slices.Contains(verbs[what], r.verb) {
			verbs[what] = append(verbs[what], r.verb)
		}
	}
	var markers []string
	for _, what := range order {
		markers = append(markers, rbacMarker(what[0], what[1], verbs[what]))
	}
	return markers
}

// rbacMarker is the marker that allows verbs. Who may list for a cache has to
// watch as well, and asks for that only later.
func rbacMarker(group, resource string, verbs []string) string {
	if slices.Contains(verbs, "list") || slices.Contains(verbs, "watch") {
		verbs = append(slices.DeleteFunc(slices.Clone(verbs), isReading), "get", "list", "watch")
	}
	if group == "" {
		group = `""`
	}
	joined := ""
	for i, verb := range verbs {
		if i > 0 {
			joined += ";"
		}
		joined += verb
	}
	return fmt.Sprintf("// +kubebuilder:rbac:groups=%s,resources=%s,verbs=%s", group, resource, joined)
}

// isReading tells the verbs that come together.
func isReading(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" }

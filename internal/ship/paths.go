package ship

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// unservedPath is a path that no webhook has. A server that answers there answers anywhere.
const unservedPath = "/slipway-asks-whether-any-path-is-served"

// answeredNow reports whether a configuration of webhooks names other paths than the cluster's, and all pods that run
// answer there. Then it is applied before these pods are replaced: the new ones may not know the old paths, as when an
// operator whose webhooks have moved goes back. What cannot be asked does not answer.
func (u *upgrade) answeredNow(ctx context.Context, object *unstructured.Unstructured) bool {
	live, err := u.present(ctx, object)
	if err != nil || !movesPaths(live, object) || ignoring(object, live, u.objects) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	for _, service := range calledBy(object) {
		if !u.cluster.answersAt(ctx, service, pathsAt(object, service)) {
			return false
		}
	}
	return true
}

// movesPaths reports whether a webhook has another path in a Service than the webhook of the same name had, and none
// has the path that another one had: that one answers there now.
func movesPaths(live, object *unstructured.Unstructured) bool {
	before := map[string]string{}
	for _, hook := range hooksOf(live) {
		if name, _ := hook["name"].(string); name != "" {
			before[name] = pathOf(hook)
		}
	}
	moves := false
	for _, hook := range hooksOf(object) {
		name, _ := hook["name"].(string)
		now := pathOf(hook)
		was, known := before[name]
		if !known || was == now {
			continue
		}
		moves = true
		for other, path := range before {
			if other != name && path == now {
				return false
			}
		}
	}
	return moves
}

// pathOf is the path of a webhook in a Service.
func pathOf(hook map[string]any) string {
	path, _, _ := unstructured.NestedString(hook, "clientConfig", "service", "path")
	return path
}

// pathsAt are the paths at which a configuration has a Service called.
func pathsAt(object *unstructured.Unstructured, s called) (paths []string) {
	for _, hook := range hooksOf(object) {
		namespace, _, _ := unstructured.NestedString(hook, "clientConfig", "service", "namespace")
		name, _, _ := unstructured.NestedString(hook, "clientConfig", "service", "name")
		if namespace == s.namespace && name == s.name && !slices.Contains(paths, pathOf(hook)) {
			paths = append(paths, pathOf(hook))
		}
	}
	return paths
}

// answersAt reports whether all pods of a Service answer at some paths. A pod that is not ready counts as the ready
// ones of its owner, which run the same.
func (c *Cluster) answersAt(ctx context.Context, s called, paths []string) bool {
	service, pods, err := c.behind(ctx, s)
	if err != nil {
		return false
	}
	answer, unready := map[types.UID]bool{}, map[types.UID]bool{}
	for _, pod := range pods {
		var owner types.UID
		if of := metav1.GetControllerOfNoCopy(&pod); of != nil {
			owner = of.UID
		}
		port := targetPort(service, pod, s.port)
		switch {
		case pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		case !podReady(pod):
			unready[owner] = true
		case port == 0 || !c.answersPaths(ctx, s.namespace, door{"pods", pod.Name, port}, paths):
			return false
		default:
			answer[owner] = true
		}
	}
	for owner := range unready {
		if !answer[owner] {
			return false
		}
	}
	return len(answer) > 0
}

// answersPaths reports whether a pod answers at all paths and, to show that this means something, not at another one.
func (c *Cluster) answersPaths(ctx context.Context, namespace string, d door, paths []string) bool {
	for _, path := range paths {
		code := c.statusAt(ctx, namespace, d, path)
		if code < http.StatusOK || isRedirect(code) || code >= http.StatusInternalServerError || slices.Contains(unanswering, code) {
			return false
		}
	}
	return c.statusAt(ctx, namespace, d, unservedPath) == http.StatusNotFound
}

// isRedirect reports whether an answer sends elsewhere, where the API server does not follow when it asks a webhook.
func isRedirect(code int) bool {
	return code >= http.StatusMultipleChoices && code < http.StatusBadRequest
}

// unanswering are the codes of a server without the path, and of an API server that does not ask it.
var unanswering = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests}

// statusAt is the status with which a pod answers a request without a review at a path; 0 if there is no answer.
func (c *Cluster) statusAt(ctx context.Context, namespace string, d door, path string) (code int) {
	result := c.catalog.client.Get().AbsPath(d.proxy(namespace) + path).MaxRetries(0).Do(ctx).StatusCode(&code)
	var status apierrors.APIStatus
	if errors.As(result.Error(), &status) {
		return int(status.Status().Code)
	}
	return code
}

// proxy is the path at which the API server asks on behalf of a client.
func (d door) proxy(namespace string) string {
	return fmt.Sprintf("/api/v1/namespaces/%s/%s/https:%s:%d/proxy", namespace, d.resource, d.name, d.port)
}

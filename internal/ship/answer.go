package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-dev/slipway/internal/report"
)

var serviceResource = schema.GroupVersionResource{Version: "v1", Resource: "services"}

// answerLimit is how long one that is asked may take to answer.
const answerLimit = 5 * time.Second

// called is a Service that the API server calls, at that port.
type called struct {
	namespace, name string
	port            int64
}

// calledBy are the Services that an object has the API server call.
func calledBy(object *unstructured.Unstructured) []called {
	var all []called
	for _, config := range clientConfigs(object) {
		name, found, _ := unstructured.NestedString(config, "service", "name")
		if !found {
			continue
		}
		namespace, _, _ := unstructured.NestedString(config, "service", "namespace")
		port, _, _ := unstructured.NestedInt64(config, "service", "port")
		if service := (called{namespace, name, cmp.Or(port, 443)}); !slices.Contains(all, service) {
			all = append(all, service)
		}
	}
	return all
}

// awaitAnswer waits until all pods of a Service that are ready answer over TLS, and so does the Service. Those of a manager are ready before: its
// certificate reaches the files of a pod some time after it was stored in a Secret, which the kubelet decides, seconds to more than a minute.
//
// They are asked by way of the API server, as webhooks are. Where that may not be asked for, nothing is waited for.
func (w *watch) awaitAnswer(ctx context.Context, object *unstructured.Unstructured, s called) error {
	var missing error
	err := poll(ctx, w.patience-time.Since(w.start), func(ctx context.Context) (bool, error) {
		if missing = w.cluster.unanswered(ctx, s); missing != nil {
			w.tell(object, missing.Error())
		}
		return missing == nil, nil
	})
	if errors.Is(err, errImpatient) {
		return &report.Error{
			What:  fmt.Sprintf("its webhooks do not answer within %s: %v", w.patience, missing),
			Where: nameOf(object),
			Hint:  "the pods are ready, but the API server cannot call them over TLS; mostly their certificate is not where the manager looks for it",
			Next:  "slipway kubectl -n " + s.namespace + " describe service " + s.name,
		}
	}
	return err
}

// unanswered says who does not answer, and is nil if nobody is known not to.
func (c *Cluster) unanswered(ctx context.Context, s called) error {
	found, err := c.objects.Resource(serviceResource).Namespace(s.namespace).Get(ctx, s.name, metav1.GetOptions{})
	if err != nil {
		return nil // what is not there is told by who needs it
	}
	var service corev1.Service
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, &service); err != nil || len(service.Spec.Selector) == 0 {
		return nil
	}
	asked := false
	for _, pod := range list[corev1.Pod](ctx, c.objects.Resource(podResource).Namespace(s.namespace), selecting(service.Spec.Selector)) {
		port := targetPort(service, pod, s.port)
		if !podReady(pod) || pod.DeletionTimestamp != nil || port == 0 {
			continue
		}
		asked = true
		if err := c.ask(ctx, s.namespace, "pods", pod.Name, port); err != nil {
			return fmt.Errorf("pod %s: %w", pod.Name, err)
		}
	}
	if !asked {
		return nil
	}
	if err := c.ask(ctx, s.namespace, "services", s.name, s.port); err != nil {
		return fmt.Errorf("service %s: %w", s.name, err)
	}
	return nil
}

// targetPort is the number of the port of a pod that a port of a Service leads to, 0 if there is none.
func targetPort(service corev1.Service, pod corev1.Pod, port int64) int64 {
	at := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return int64(p.Port) == port })
	if at < 0 {
		return 0
	}
	target := service.Spec.Ports[at].TargetPort
	if target.Type == intstr.Int {
		return cmp.Or(int64(target.IntVal), port)
	}
	for _, container := range pod.Spec.Containers {
		for _, p := range container.Ports {
			if p.Name == target.StrVal {
				return int64(p.ContainerPort)
			}
		}
	}
	return 0
}

// ask asks a pod or Service over TLS, and returns an error if it is known not to answer. What it answers does not matter.
func (c *Cluster) ask(ctx context.Context, namespace, resource, name string, port int64) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	path := fmt.Sprintf("/api/v1/namespaces/%s/%s/https:%s:%d/proxy/", namespace, resource, name, port)
	err := c.catalog.client.Get().AbsPath(path).MaxRetries(0).Do(ctx).Error()
	if fromAPIServer(err) && !apierrors.IsForbidden(err) {
		return err
	}
	return nil
}

// fromAPIServer tells whether an error is the API server's own and not the answer of somebody whom it asked, which is no Status.
func fromAPIServer(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err != nil
	}
	details := status.Status().Details
	return details == nil || !slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeUnexpectedServerResponse })
}

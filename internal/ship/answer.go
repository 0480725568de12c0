package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// Services, as kind and resource.
var (
	serviceKind     = schema.GroupKind{Kind: "Service"}
	serviceResource = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

const (
	// answerLimit is how long one that is asked may take to answer.
	answerLimit = 5 * time.Second
	// certificateDelay is how long a certificate may take to get into files: a kubelet looks after a pod's Secrets once
	// in 60 to 90 seconds unless it is told otherwise.
	certificateDelay = 90 * time.Second
)

// called is a Service that the API server calls, at that port.
type called struct {
	namespace, name string
	port            int64
}

// of tells whether the Service is one of objects.
func (s called) of(objects []*unstructured.Unstructured) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
		return kindOf(o) == serviceKind && o.GetNamespace() == s.namespace && o.GetName() == s.name
	})
}

// calledBy are the Services that an object has the API server call.
func calledBy(object *unstructured.Unstructured) []called {
	var all []called
	for _, config := range usedConfigs(object) {
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

// awaitAnswers waits for the Services that are called and are among objects: of others it is not known what they are.
func (w *watch) awaitAnswers(ctx context.Context, calling, objects []*unstructured.Unstructured) error {
	asked := map[called]bool{}
	for _, object := range calling {
		for _, service := range calledBy(object) {
			if asked[service] || !service.of(objects) {
				continue
			}
			asked[service] = true
			if err := w.awaitAnswer(ctx, object, service); err != nil {
				return err
			}
		}
	}
	return nil
}

// awaitAnswer waits until all pods of a Service that are ready answer over TLS, and so does the Service. A manager
// without a readiness check of its webhooks has ready pods before: its certificate reaches the files of a pod some time
// after it was stored in a Secret, which the kubelet decides.
//
// They are asked through the API server's proxy, which is no proof: it has no certificate of its own to show, and not
// everybody may use it. So if they do not answer in time that is told, and nothing more.
func (w *watch) awaitAnswer(ctx context.Context, object *unstructured.Unstructured, s called) error {
	missing, err := w.silent(ctx, object, s)
	if missing != nil {
		w.cluster.handler.Handle(report.Warning{Text: fmt.Sprintf("the webhooks of %s may not answer: %s: %v; its pods may not have the certificate yet", nameOf(object), missing.who, missing.why)})
	}
	return w.cluster.explainObject(ctx, object, err)
}

// silent asks until all answer, and returns who does not in the end.
func (w *watch) silent(ctx context.Context, object *unstructured.Unstructured, s called) (missing *silence, err error) {
	err = poll(ctx, min(w.left(), certificateDelay), func(ctx context.Context) (bool, error) {
		var err error
		if missing, err = w.cluster.unanswered(ctx, s); missing != nil {
			w.notify(object, missing.who.String()+" does not answer yet")
		}
		return missing == nil, err
	})
	if errors.Is(err, errImpatient) {
		return missing, nil
	}
	return nil, err
}

// requireAnswers waits for the Services that an object has the API server call, as awaitAnswers does, and fails if one
// does not answer.
func (w *watch) requireAnswers(ctx context.Context, object *unstructured.Unstructured, objects []*unstructured.Unstructured) error {
	for _, service := range calledBy(object) {
		if !service.of(objects) {
			continue
		}
		missing, err := w.silent(ctx, object, service)
		if err != nil {
			return w.cluster.explainObject(ctx, object, err)
		}
		if missing != nil {
			return &report.Error{
				Class: report.NotReady,
				What:  missing.who.String() + " does not answer, so failures of these webhooks are still ignored",
				Where: nameOf(object), Object: refOf(object), Err: missing.why, Next: describe(object), Unready: []report.Unready{missing.unready(object)},
				Hint: "deploy --wait=false registers webhooks at once, such as those of a server that asks its callers for a certificate",
			}
		}
	}
	return nil
}

// door is where one can be asked: a pod or a Service, at a port.
type door struct {
	resource, name string
	port           int64
}

func (d door) String() string { return strings.TrimSuffix(d.resource, "s") + " " + d.name }

// silence is that of one who does not answer.
type silence struct {
	who door
	why error
}

// unready is the reason that a webhook configuration is not ready.
func (s *silence) unready(object *unstructured.Unstructured) report.Unready {
	u := report.Unready{Object: *refOf(object), Reason: "NoAnswer", Message: s.who.String() + ": " + s.why.Error()}
	if s.who.resource == podResource.Resource {
		u.Pod = s.who.name
	}
	return u
}

// unanswered is who does not answer, and nil if nobody is known not to.
func (c *Cluster) unanswered(ctx context.Context, s called) (*silence, error) {
	doors, err := c.doors(ctx, s)
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	for _, d := range doors {
		why, err := c.ask(ctx, s.namespace, d, answerLimit)
		if err != nil {
			return nil, err
		}
		if why != nil {
			return &silence{d, why}, nil
		}
	}
	return nil, nil
}

// doors are those of the pods behind a Service that are ready, and its own; none if it has none of these.
func (c *Cluster) doors(ctx context.Context, s called) (doors []door, err error) {
	service, pods, err := c.behind(ctx, s)
	for _, pod := range pods {
		if port := targetPort(service, pod, s.port); port != 0 && podReady(pod) && pod.DeletionTimestamp == nil {
			doors = append(doors, door{"pods", pod.Name, port})
		}
	}
	if len(doors) > 0 {
		doors = append(doors, door{"services", s.name, s.port})
	}
	return doors, err
}

// behind returns a Service and the pods that it selects.
func (c *Cluster) behind(ctx context.Context, s called) (service corev1.Service, pods []corev1.Pod, err error) {
	found, err := c.objects.Resource(serviceResource).Namespace(s.namespace).Get(ctx, s.name, metav1.GetOptions{})
	if err != nil {
		return service, nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, &service); err != nil || len(service.Spec.Selector) == 0 {
		return service, nil, err
	}
	list, err := c.objects.Resource(podResource).Namespace(s.namespace).List(ctx, selecting(service.Spec.Selector))
	if err != nil {
		return service, nil, err
	}
	return service, typed[corev1.Pod](list), nil
}

// targetPort is the number of the port of a pod that a port of a Service leads to, 0 if there is none.
func targetPort(service corev1.Service, pod corev1.Pod, port int64) int64 {
	at := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return int64(p.Port) == port && p.Protocol != corev1.ProtocolUDP })
	if at < 0 {
		return 0
	}
	if target := service.Spec.Ports[at].TargetPort; target.Type == intstr.String || target.IntVal != 0 {
		return portOf(pod, target)
	}
	return port
}

// portOf is the number of a pod's port, which may have a name; 0 if it has none of that name.
func portOf(pod corev1.Pod, port intstr.IntOrString) int64 {
	if port.Type == intstr.Int {
		return int64(port.IntVal)
	}
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) { // of the first kind are sidecars
		for _, p := range container.Ports {
			if p.Name == port.StrVal {
				return int64(p.ContainerPort)
			}
		}
	}
	return 0
}

// ask asks a pod or Service over TLS, and returns why it is known not to answer. What it answers does not matter.
func (c *Cluster) ask(ctx context.Context, namespace string, d door, limit time.Duration) (silent, err error) {
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = c.catalog.client.Get().AbsPath(d.proxy(namespace) + "/").MaxRetries(0).Do(asking).Error()
	var status apierrors.APIStatus
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case asking.Err() != nil:
		return fmt.Errorf("no answer within %s", limit), nil
	case err != nil && !errors.As(err, &status): // the API server itself was not reached
		return nil, err
	case apierrors.IsServiceUnavailable(err) && !apierrors.IsUnexpectedServerError(err):
		return err, nil
	}
	return nil, nil
}

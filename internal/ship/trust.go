package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// injectionAnnotation names the Certificate whose authority cert-manager writes into an object.
const injectionAnnotation = "cert-manager.io/inject-ca-from"

// awaitTrust waits until objects that have the API server call a Service hold the authority that its certificate is
// checked against, and until it answers. cert-manager, or the operator itself, makes both after they run; before that
// each such call fails.
func (w *watch) awaitTrust(ctx context.Context, objects []*unstructured.Unstructured) error {
	calling := slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return len(calledBy(o)) == 0 })
	if len(calling) == 0 {
		return nil
	}
	if len(w.cluster.Simulated(ctx, objects)) > 0 {
		w.cluster.handler.Handle(report.Note{Text: "the operator's pods are simulated, so its webhooks do not answer there; slipway run serves them from this machine"})
		return nil
	}
	for _, object := range slices.Backward(InInstallOrder(calling)) { // definitions last, for each question for one costs the server much
		if err := w.awaitAuthority(ctx, object); err != nil {
			return err
		}
	}
	return w.awaitAnswers(ctx, calling, objects)
}

// awaitAuthority waits for one object.
func (w *watch) awaitAuthority(ctx context.Context, object *unstructured.Unstructured) error {
	c := w.cluster
	resource, object, err := c.locate(ctx, object, 0)
	if err != nil {
		return c.explainObject(ctx, object, err)
	}
	var live *unstructured.Unstructured
	err = poll(ctx, w.left(), func(ctx context.Context) (bool, error) {
		if live, err = resource.Get(ctx, object.GetName(), metav1.GetOptions{}); err != nil {
			return false, err
		}
		missing := untrusted(live)
		if len(missing) == 0 {
			return true, nil
		}
		w.notify(object, "its webhooks have no certificate yet")
		return false, w.unissued(ctx)
	})
	if errors.Is(err, errImpatient) {
		return c.explainUntrusted(ctx, live, w.patience)
	}
	return c.explainObject(ctx, object, err)
}

// clientConfigs are those by which an object has the API server call webhooks.
func clientConfigs(object *unstructured.Unstructured) (configs []map[string]any) {
	if config, found, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig"); found {
		configs = append(configs, config)
	}
	if strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
		webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
		for _, item := range webhooks {
			hook, _ := item.(map[string]any)
			if config, found, _ := unstructured.NestedMap(hook, "clientConfig"); found {
				configs = append(configs, config)
			}
		}
	}
	return configs
}

// usedConfigs are those that are called. The API server converts nothing of a kind that has one version: some projects
// keep a conversion from earlier days, which nothing serves and no authority is written to.
func usedConfigs(object *unstructured.Unstructured) []map[string]any {
	versions, described, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
	if described && len(versions) < 2 {
		return nil
	}
	return clientConfigs(object)
}

// untrusted lists the Services that an object has the API server call without knowing
// whose certificates to trust.
func untrusted(object *unstructured.Unstructured) []string {
	var services []string
	for _, config := range usedConfigs(object) {
		bundle, _, _ := unstructured.NestedString(config, "caBundle")
		name, found, _ := unstructured.NestedString(config, "service", "name")
		if found && bundle == "" {
			services = append(services, name)
		}
	}
	return services
}

// explainUntrusted says who should have written the authority, and what is known of why it did not.
func (c *Cluster) explainUntrusted(ctx context.Context, object *unstructured.Unstructured, patience time.Duration) error {
	e := &report.Error{
		Class: report.NotReady,
		What:  fmt.Sprintf("its webhooks have no certificate after %s: calls to service %s fail", patience, untrusted(object)[0]),
		Where: nameOf(object), Object: refOf(object),
		Next:    describe(object),
		Unready: []report.Unready{{Object: *refOf(object), Reason: "NoCertificate", Message: "the API server cannot trust service " + untrusted(object)[0]}},
	}
	from := object.GetAnnotations()[injectionAnnotation]
	namespace, name, ok := strings.Cut(from, "/")
	if !ok {
		e.Hint = "the operator issues the certificate itself, if its image was built after the project got --certs self; " +
			"its ClusterRole must allow it to update this object, and its log has the reason if it cannot"
		return e
	}
	e.Hint = "cert-manager's cainjector writes it after the Certificate " + from + " is issued"
	e.Next = "slipway kubectl -n " + namespace + " describe certificate " + name
	certificates := c.objects.Resource(schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"})
	if certificate, err := certificates.Namespace(namespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
		for _, condition := range conditions(certificate) {
			e.Hint += fmt.Sprintf("\n%s=%s: %s", condition.kind, condition.status, condition.message)
		}
	}
	return e
}

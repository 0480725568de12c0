package ship

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// issuerDelay is how long a Certificate may be without conditions where no cert-manager is known to run: its controller
// writes the first ones within a second.
const issuerDelay = 3 * time.Second

// certificatesOf are the Certificates of cert-manager among objects.
func certificatesOf(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool {
		return o.GetKind() != "Certificate" || o.GroupVersionKind().Group != CertManager
	})
}

// unissued fails if a Certificate has no conditions and nothing in the cluster would write them: a pod that mounts its
// Secret would wait until time is up. One that has conditions is reported while it is not ready.
func (w *watch) unissued(ctx context.Context) error {
	if len(w.certificates) == 0 || time.Since(w.start) < issuerDelay || time.Since(w.certified) < time.Second {
		return nil
	}
	w.certified = time.Now()
	for _, certificate := range w.certificates {
		resource, certificate, err := w.cluster.locate(ctx, certificate, 0)
		if err != nil {
			return nil // the objects themselves are waited for, and say it
		}
		live, err := resource.Get(ctx, certificate.GetName(), metav1.GetOptions{})
		if err != nil {
			continue
		}
		of := conditions(live)
		if len(of) == 0 && !w.cluster.issues(ctx) {
			return noIssuer(live)
		}
		for _, c := range of {
			if c.kind == "Ready" && c.status != "True" {
				w.reportCertificate(fmt.Sprintf("waiting for %s: Ready=%s: %s", nameOf(live), c.status, c.message))
			}
		}
	}
	return nil
}

// reportCertificate says what a certificate waits for when that is news, beside what is said of the object waited for.
func (w *watch) reportCertificate(text string) {
	if text != w.reportedCertificate {
		w.reportedCertificate = text
		w.cluster.handler.Handle(report.Step{Name: text})
	}
}

// issues reports whether cert-manager is, or may be, in the cluster: as a Deployment with its name, or as what judges
// its objects. A question that is refused is no proof that it is not.
func (c *Cluster) issues(ctx context.Context) bool {
	for resource, is := range map[string]func(*unstructured.Unstructured) bool{"apps/v1/deployments": isCertManager, "admissionregistration.k8s.io/v1/validatingwebhookconfigurations": judgesCertificates} {
		part := strings.Split(resource, "/")
		list, err := c.objects.Resource(schema.GroupVersionResource{Group: part[0], Version: part[1], Resource: part[2]}).List(ctx, metav1.ListOptions{})
		if err != nil {
			return true
		}
		for i := range list.Items {
			if is(&list.Items[i]) {
				return true
			}
		}
	}
	return false
}

// isCertManager reports whether a Deployment has the labels of cert-manager's.
func isCertManager(o *unstructured.Unstructured) bool {
	labels := o.GetLabels()
	return labels["app.kubernetes.io/name"] == "cert-manager" || labels["app"] == "cert-manager"
}

// judgesCertificates reports whether a configuration is about cert-manager's kinds.
func judgesCertificates(o *unstructured.Unstructured) bool {
	webhooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
	for _, item := range webhooks {
		hook, _ := item.(map[string]any)
		rules, _, _ := unstructured.NestedSlice(hook, "rules")
		for _, item := range rules {
			rule, _ := item.(map[string]any)
			if groups, _, _ := unstructured.NestedStringSlice(rule, "apiGroups"); slices.Contains(groups, CertManager) {
				return true
			}
		}
	}
	return false
}

// noIssuer is the error of a Certificate that no controller has looked at.
func noIssuer(certificate *unstructured.Unstructured) error {
	secret, _, _ := unstructured.NestedString(certificate.Object, "spec", "secretName")
	return &report.Error{
		Class:   report.NotReady,
		Unready: []report.Unready{{Object: *refOf(certificate), Reason: "NoIssuer", Message: "no controller issues this certificate"}},
		What:    "no controller issues this certificate: it has no conditions",
		Where:   nameOf(certificate), Object: refOf(certificate),
		Hint: "the cluster has cert-manager's CRDs but no Deployment and no webhook of cert-manager; pods wait for the Secret " + secret +
			"\ninstall cert-manager (slipway cluster add cert-manager does so in an embedded cluster), or use slipway edit --certs self",
		Next: describe(certificate),
	}
}

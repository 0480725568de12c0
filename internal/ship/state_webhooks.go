package ship

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// WebhookState is where the API server calls the webhooks of an object.
type WebhookState struct {
	Object  report.ObjectRef `json:"object"`            // a webhook configuration, or a CRD with a conversion
	Service string           `json:"service,omitempty"` // NAMESPACE/NAME:PORT
	URL     string           `json:"url,omitempty"`     // in place of a Service, as of a manager on a developer's machine
	Pods    []string         `json:"pods,omitempty"`    // that the Service selects
	Answers bool             `json:"answers"`           // false for URLs, which only the API server can ask
	Problem string           `json:"problem,omitempty"` // why it does not answer
}

// CertificateState is a certificate that the operator serves with.
type CertificateState struct {
	Secret   report.ObjectRef `json:"secret"`
	Names    []string         `json:"names,omitempty"` // of hosts
	NotAfter *time.Time       `json:"notAfter,omitempty"`
	Problem  string           `json:"problem,omitempty"`
}

// webhooks looks at what a member has the API server call.
func (l *inspection) webhooks(ctx context.Context, member *unstructured.Unstructured) {
	for _, config := range usedConfigs(member) {
		url, _, _ := unstructured.NestedString(config, "url")
		known := slices.ContainsFunc(l.state.Webhooks, func(w WebhookState) bool { return w.URL == url && w.Object == *refOf(member) })
		if url != "" && !known {
			l.state.Webhooks = append(l.state.Webhooks, WebhookState{Object: *refOf(member), URL: url})
		}
	}
	for _, service := range calledBy(member) {
		w := WebhookState{Object: *refOf(member), Service: fmt.Sprintf("%s/%s:%d", service.namespace, service.name, service.port)}
		l.ask(ctx, member, service, &w)
		l.state.Webhooks = append(l.state.Webhooks, w)
	}
}

// ask finds out whether a Service answers for a member's webhooks.
func (l *inspection) ask(ctx context.Context, member *unstructured.Unstructured, service called, w *WebhookState) {
	_, pods, err := l.cluster.behind(ctx, service)
	for _, pod := range pods {
		w.Pods = append(w.Pods, pod.Name)
	}
	ready := slices.ContainsFunc(pods, podReady)
	switch {
	case apierrors.IsNotFound(err):
		l.fail(w, "NoService", "the Service does not exist")
	case err != nil:
		l.unknown("service "+service.namespace+"/"+service.name, err)
		w.Problem = "unknown"
	case slices.Contains(untrusted(member), service.name):
		l.fail(w, "NoCertificate", "the API server knows no authority for its certificate")
	case slices.ContainsFunc(l.state.Workloads, func(s WorkloadState) bool { return s.Simulated }):
		w.Problem = "its pods are simulated"
	case !ready:
		l.fail(w, "NoReadyPod", "no pod of the Service is ready")
	default:
		l.answer(ctx, service, w)
	}
}

// answer asks a Service, once for all objects that have it called.
func (l *inspection) answer(ctx context.Context, service called, w *WebhookState) {
	missing, asked := l.answers[service]
	if !asked {
		var err error
		if missing, err = l.cluster.unanswered(ctx, service); err != nil {
			l.unknown("service "+service.namespace+"/"+service.name, err)
			w.Problem = "unknown"
			return
		}
		l.answers[service] = missing
	}
	if w.Answers = missing == nil; !w.Answers {
		l.fail(w, "NoAnswer", missing.who.String()+": "+brief(missing.why.Error()))
	}
}

// fail notes why a webhook cannot be called.
func (l *inspection) fail(w *WebhookState, reason, problem string) {
	w.Problem = problem
	l.state.NotReady = append(l.state.NotReady, report.Unready{Object: w.Object, Reason: reason, Message: "service " + w.Service + ": " + problem})
}

// mounted looks at the certificates in Secrets that a pod template mounts.
func (l *inspection) mounted(ctx context.Context, namespace string, pod map[string]any) {
	volumes, _, _ := unstructured.NestedSlice(pod, "volumes")
	for _, item := range volumes {
		volume, _ := item.(map[string]any)
		name, found, _ := unstructured.NestedString(volume, "secret", "secretName")
		if !found {
			continue
		}
		secret, err := l.cluster.quiet.Resource(secretResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		ref := report.ObjectRef{Kind: "Secret", Namespace: namespace, Name: name}
		optional, _, _ := unstructured.NestedBool(volume, "secret", "optional")
		switch {
		case err == nil:
			l.certificate(secret)
		case !apierrors.IsNotFound(err):
			l.unknown(RefText(ref), err)
		case !optional:
			l.state.NotReady = append(l.state.NotReady, report.Unready{Object: ref, Reason: "NotFound", Message: "pods mount this Secret, which does not exist"})
		}
	}
}

// certificate notes the certificate in a Secret, if it has one. Nothing else of the Secret is kept.
func (l *inspection) certificate(secret *unstructured.Unstructured) {
	if secret.GetKind() != "Secret" || slices.ContainsFunc(l.state.Certificates, func(c CertificateState) bool { return c.Secret == *refOf(secret) }) {
		return
	}
	text, has, _ := unstructured.NestedString(secret.Object, "data", "tls.crt")
	if !has {
		return
	}
	state := CertificateState{Secret: *refOf(secret)}
	switch certificate, err := firstCertificate(text); {
	case err != nil:
		state.Problem = "invalid: " + err.Error()
	default:
		state.Names, state.NotAfter = certificate.DNSNames, &certificate.NotAfter
		if certificate.NotAfter.Before(l.now) {
			state.Problem = "expired"
		}
	}
	if state.Problem != "" {
		l.state.NotReady = append(l.state.NotReady, report.Unready{Object: state.Secret, Reason: "InvalidCertificate", Message: "the certificate is " + state.Problem})
	}
	l.state.Certificates = append(l.state.Certificates, state)
}

var errNoPEM = errors.New("it is not in PEM")

// firstCertificate is the first one of a chain, as Secrets have it.
func firstCertificate(text string) (*x509.Certificate, error) {
	chain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(chain)
	if block == nil {
		return nil, errNoPEM
	}
	return x509.ParseCertificate(block.Bytes)
}

package explain

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// webhooks finds those that have the API server refuse writes of the object, since they do not answer.
func (s *scene) webhooks(ctx context.Context) {
	for _, resource := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
		configurations, err := s.client.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}).List(ctx, metav1.ListOptions{})
		if err != nil {
			s.unread(resource, err)
			continue
		}
		for i := range configurations.Items {
			hooks, _, _ := unstructured.NestedSlice(configurations.Items[i].Object, "webhooks")
			for _, item := range hooks {
				if hook, is := item.(map[string]any); is && s.isFor(ctx, hook) {
					s.hook(ctx, &configurations.Items[i], hook)
				}
			}
		}
	}
	if s.definition != nil {
		if strategy, _, _ := unstructured.NestedString(s.definition.Object, "spec", "conversion", "strategy"); strategy == "Webhook" {
			config, _, _ := unstructured.NestedMap(s.definition.Object, "spec", "conversion", "webhook", "clientConfig")
			if reason, problem := s.unreachable(ctx, config); problem != "" {
				s.elsewhere(admission, refOf(s.definition), reason, "objects are not converted between versions: %s", problem)
			}
		}
	}
}

// isFor reports whether a webhook is called for the object, and what it says decides.
func (s *scene) isFor(ctx context.Context, hook map[string]any) bool {
	if hook["failurePolicy"] == "Ignore" {
		return false
	}
	rules, _, _ := unstructured.NestedSlice(hook, "rules")
	if !slices.ContainsFunc(rules, func(item any) bool {
		rule, _ := item.(map[string]any)
		groups, _, _ := unstructured.NestedStringSlice(rule, "apiGroups")
		resources, _, _ := unstructured.NestedStringSlice(rule, "resources")
		has := func(list []string, word string) bool {
			return slices.Contains(list, "*") || slices.Contains(list, word)
		}
		return has(groups, s.served.Group) && (has(resources, s.served.Resource) || slices.Contains(resources, "*/*"))
	}) {
		return false
	}
	objects, _, _ := unstructured.NestedMap(hook, "objectSelector")
	namespaces, _, _ := unstructured.NestedMap(hook, "namespaceSelector")
	return selects(objects, s.members[0].object.GetLabels(), true) && (len(namespaces) == 0 || s.ref.Namespace == "" || selects(namespaces, s.namespaceLabels(ctx), true))
}

// namespaceLabels are the labels of the object's namespace.
func (s *scene) namespaceLabels(ctx context.Context) map[string]string {
	namespace, err := s.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, s.ref.Namespace, metav1.GetOptions{})
	if err != nil {
		return map[string]string{corev1.LabelMetadataName: s.ref.Namespace} // the label that each has
	}
	return namespace.GetLabels()
}

// hook notes a webhook that does not answer.
func (s *scene) hook(ctx context.Context, of *unstructured.Unstructured, hook map[string]any) {
	config, _, _ := unstructured.NestedMap(hook, "clientConfig")
	if reason, problem := s.unreachable(ctx, config); problem != "" {
		name, _ := hook["name"].(string)
		s.elsewhere(admission, refOf(of), reason, "the API server refuses writes of %s, since the webhook %s does not answer: %s", s.served.Resource, name, problem).Next = "slipway status"
	}
}

// unreachable says why the API server cannot call a webhook, as far as that is known.
func (s *scene) unreachable(ctx context.Context, config map[string]any) (reason, problem string) {
	bundle, _, _ := unstructured.NestedString(config, "caBundle")
	if until, expired := s.expired(bundle); expired {
		return "CertificateExpired", "the authority in its caBundle has expired on " + until.UTC().Format(time.DateTime)
	}
	if at, _, _ := unstructured.NestedString(config, "url"); at != "" {
		return s.local(ctx, at)
	}
	namespace, _, _ := unstructured.NestedString(config, "service", "namespace")
	name, _, _ := unstructured.NestedString(config, "service", "name")
	port, given, _ := unstructured.NestedInt64(config, "service", "port")
	if !given {
		port = 443
	}
	if name == "" {
		return "", ""
	}
	reason, problem, err := s.cluster.Silent(ctx, namespace, name, port)
	if err != nil {
		s.unread("service "+namespace+"/"+name, err)
		return "", ""
	}
	if problem != "" {
		problem = "service " + namespace + "/" + name + ": " + problem
	}
	return reason, problem
}

// local asks at an address of this machine, as `slipway run` and `slipway dev` have the API server call. Of others it
// is not known what the API server sees.
func (s *scene) local(ctx context.Context, at string) (reason, problem string) {
	parsed, err := url.Parse(at)
	if err != nil {
		return "InvalidURL", err.Error()
	}
	address, err := netip.ParseAddr(parsed.Hostname())
	if err != nil || !address.IsLoopback() || parsed.Port() == "" {
		return "", ""
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", parsed.Host)
	if err != nil {
		return "NoAnswer", "nothing listens at " + parsed.Host + ", where `slipway run` or `slipway dev` had it"
	}
	_ = conn.Close()
	return "", ""
}

// expired reports whether all certificates of a bundle have ended, and when the last one did.
func (s *scene) expired(bundle string) (until time.Time, expired bool) {
	text, err := base64.StdEncoding.DecodeString(bundle)
	if err != nil {
		return until, false
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil || certificate.NotAfter.After(s.now) {
			return until, false
		}
		if until = certificate.NotAfter; until.IsZero() {
			return until, false
		}
	}
	return until, !until.IsZero()
}

func refOf(object *unstructured.Unstructured) report.ObjectRef {
	return report.ObjectRef{Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
}

// missing says what keeps an object from being created.
func (s *scene) missing(ctx context.Context, top *member) {
	top.text = "it does not exist"
	if s.ref.Namespace != "" {
		namespace, err := s.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, s.ref.Namespace, metav1.GetOptions{})
		switch {
		case err != nil:
			s.elsewhere(concrete, report.ObjectRef{Kind: "Namespace", Name: s.ref.Namespace}, "NoNamespace", "the namespace %s does not exist", s.ref.Namespace).Next = "slipway kubectl create namespace " + s.ref.Namespace
			return
		case namespace.GetDeletionTimestamp() != nil:
			s.elsewhere(concrete, refOf(namespace), "NamespaceTerminating", "the namespace %s is being deleted, so nothing can be created in it", s.ref.Namespace).Next = "slipway explain namespace " + s.ref.Namespace
		}
	}
	for _, events := range s.warnings {
		for _, e := range events {
			if e.InvolvedObject.Kind == s.ref.Kind && e.InvolvedObject.Name == s.ref.Name {
				s.elsewhere(symptom, s.ref, e.Reason, "%s", plainly(e.Message))
				return
			}
		}
	}
	client, err := s.cluster.Metadata()
	if err != nil || s.ref.Namespace == "" {
		return
	}
	all, err := client.Resource(s.served.GroupVersionResource).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + s.ref.Name})
	for _, other := range items(all, err) {
		s.elsewhere(symptom, s.ref, "OtherNamespace", "there is one of that name in namespace %s", other.Namespace).Next = "slipway explain -n " + other.Namespace + " " + s.served.Singular + " " + ship.RefText(report.ObjectRef{Name: s.ref.Name})[1:]
		return
	}
}

package explain

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
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
	conditions, _, _ := unstructured.NestedSlice(hook, "matchConditions")
	if hook["failurePolicy"] == "Ignore" || len(conditions) > 0 || s.served.Group == "admissionregistration.k8s.io" {
		return false // what conditions say is not known here, and webhooks are not called for webhooks
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
	return selects(objects, s.members[0].object.GetLabels(), true) && (len(namespaces) == 0 || s.inNamespaceOf(ctx, namespaces))
}

// inNamespaceOf reports whether a selector selects the object's namespace, as the API server decides: objects without
// one are always selected, and a namespace is by its own labels.
func (s *scene) inNamespaceOf(ctx context.Context, selector map[string]any) bool {
	if top := s.members[0]; top.kind() == namespaceKind {
		return selects(selector, top.object.GetLabels(), true)
	}
	if s.ref.Namespace == "" {
		return true
	}
	namespace, err := s.client.Resource(namespaceResource).Get(ctx, s.ref.Namespace, metav1.GetOptions{})
	if err != nil {
		s.unread("namespace "+s.ref.Namespace, err)
		return false
	}
	return selects(selector, namespace.GetLabels(), true)
}

var namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

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
	if known, asked := s.services[fmt.Sprint(namespace, "/", name, ":", port)]; asked {
		return known.reason, known.problem
	}
	reason, problem, err := s.cluster.Silent(ctx, namespace, name, port)
	if err != nil {
		s.unread("service "+namespace+"/"+name, err)
	}
	if problem != "" {
		problem = "service " + namespace + "/" + name + ": " + problem
	}
	s.services[fmt.Sprint(namespace, "/", name, ":", port)] = silence{reason, problem}
	return reason, problem
}

// silence is why a Service does not answer; empty if it does.
type silence struct{ reason, problem string }

// local asks at an address of this machine, as `slipway run` and `slipway dev` have the API server call. Of others it
// is not known what the API server sees.
func (s *scene) local(ctx context.Context, at string) (reason, problem string) {
	parsed, err := url.Parse(at)
	if err != nil {
		return "InvalidURL", err.Error()
	}
	here := func(host string) bool {
		address, err := netip.ParseAddr(host)
		return err == nil && address.IsLoopback()
	}
	server, err := url.Parse(s.cluster.Server())
	if err != nil || !here(server.Hostname()) || !here(parsed.Hostname()) || parsed.Port() == "" {
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
		namespace, err := s.client.Resource(namespaceResource).Get(ctx, s.ref.Namespace, metav1.GetOptions{})
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			s.unread("namespace "+s.ref.Namespace, err)
		case err != nil:
			s.elsewhere(concrete, report.ObjectRef{Kind: "Namespace", Name: s.ref.Namespace}, "NoNamespace", "the namespace %s does not exist", s.ref.Namespace).Next = command("slipway kubectl create namespace %s", s.ref.Namespace)
			return
		case namespace.GetDeletionTimestamp() != nil:
			s.elsewhere(concrete, refOf(namespace), "NamespaceTerminating", "the namespace %s is being deleted, so nothing can be created in it", s.ref.Namespace).Next = command("slipway explain namespace %s", s.ref.Namespace)
		}
	}
	for _, events := range s.warnings {
		for _, e := range events {
			if of := e.InvolvedObject; of.Kind == s.ref.Kind && of.Name == s.ref.Name && s.now.Sub(newest(e)) < current && e.Reason == strayReason {
				s.elsewhere(symptom, s.ref, e.Reason, "%s", plainly(e.Message))
			}
		}
	}
	if s.ref.Namespace == "" {
		return
	}
	all, err := s.metadata.Resource(s.served.GroupVersionResource).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + s.ref.Name})
	for _, other := range items(all, err) {
		s.elsewhere(symptom, s.ref, "OtherNamespace", "there is one of that name in namespace %s", other.Namespace).Next = command("slipway explain -n %s %s %s", other.Namespace, s.served.Singular, s.ref.Name)
		return
	}
}

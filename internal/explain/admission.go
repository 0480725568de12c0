package explain

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// probeTime bounds how long an answer waits for webhooks, all of them together.
const probeTime = time.Second

// A hook is a webhook that the API server calls when it serves the object.
type hook struct {
	of     *unstructured.Unstructured // that names it
	name   string                     // empty: it converts objects between versions
	config map[string]any             // says where it is
	late   bool                       // it may answer after the time of an answer
	silence
}

// silence is why a webhook does not answer; empty if it does, or if that is not known.
type silence struct{ reason, problem string }

// webhooks finds those that have the API server refuse writes of the object, since they do not answer.
func (s *scene) webhooks(ctx context.Context) {
	hooks := s.hooks(ctx)
	probing, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var conversion silence
	var unread error
	group := errgroup.Group{}
	group.Go(func() error { conversion, unread = s.converted(probing); return nil })
	s.probe(probing, hooks)
	_ = group.Wait()
	converts := true
	for _, h := range hooks {
		switch {
		case h.problem == "":
		case h.name == "":
			converts = false
			s.elsewhere(admission, refOf(h.of), h.reason, "objects are not converted between versions: %s", h.problem)
		case h.late:
			s.elsewhere(admission, refOf(h.of), h.reason, "writes of %s wait for the webhook %s: %s", s.served.Resource, h.name, h.problem).Next = "slipway status"
		default:
			s.elsewhere(admission, refOf(h.of), h.reason, "the API server refuses writes of %s, since the webhook %s does not answer: %s", s.served.Resource, h.name, h.problem).Next = "slipway status"
		}
	}
	switch {
	case !converts:
	case unread != nil:
		s.unread("its other versions", unread)
	case conversion.problem != "":
		s.elsewhere(admission, refOf(s.definition), conversion.reason, "%s", conversion.problem)
	}
}

// hooks are the webhooks that are called for the object.
func (s *scene) hooks(ctx context.Context) (all []*hook) {
	for _, resource := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
		configurations, err := s.client.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}).List(ctx, metav1.ListOptions{})
		if err != nil {
			s.unread(resource, err)
			continue
		}
		for i := range configurations.Items {
			list, _, _ := unstructured.NestedSlice(configurations.Items[i].Object, "webhooks")
			for _, item := range list {
				fields, _ := item.(map[string]any)
				if config, is := fields["clientConfig"].(map[string]any); is && s.isFor(ctx, fields) {
					name, _ := fields["name"].(string)
					all = append(all, &hook{of: &configurations.Items[i], name: name, config: config})
				}
			}
		}
	}
	if config, is := converter(s.definition); is {
		all = append(all, &hook{of: s.definition, config: config})
	}
	return all
}

// converter says where the webhook is that converts the objects of a definition, if one does.
func converter(definition *unstructured.Unstructured) (config map[string]any, is bool) {
	if definition == nil {
		return nil, false
	}
	strategy, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "strategy")
	config, is, _ = unstructured.NestedMap(definition.Object, "spec", "conversion", "webhook", "clientConfig")
	return config, is && strategy == "Webhook"
}

// probe asks webhooks, each place once.
func (s *scene) probe(ctx context.Context, hooks []*hook) {
	places := map[string][]*hook{}
	for _, h := range hooks {
		place := placeOf(h.config)
		places[place] = append(places[place], h)
	}
	var mu sync.Mutex
	group := errgroup.Group{}
	group.SetLimit(together)
	for place, all := range places {
		group.Go(func() error {
			found, err := s.unreachable(ctx, all[0].config)
			late := ctx.Err() != nil
			if late {
				found, err = silence{"NoAnswer", place + " did not answer within " + probeTime.String()}, nil
			}
			for _, h := range all {
				h.silence, h.late = found, late
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				s.unread(place, err)
			}
			return nil
		})
	}
	_ = group.Wait() // each notes its own failure
}

// placeOf names where a webhook is asked.
func placeOf(config map[string]any) string {
	if at, _ := config["url"].(string); at != "" {
		return at
	}
	namespace, name, port := serviceOf(config)
	return fmt.Sprintf("service %s/%s:%d", namespace, name, port)
}

// serviceOf is the Service of a webhook.
func serviceOf(config map[string]any) (namespace, name string, port int64) {
	namespace, _, _ = unstructured.NestedString(config, "service", "namespace")
	name, _, _ = unstructured.NestedString(config, "service", "name")
	port, given, _ := unstructured.NestedInt64(config, "service", "port")
	if !given {
		port = 443
	}
	return namespace, name, port
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

// unreachable says why the API server cannot call a webhook, as far as that is known.
func (s *scene) unreachable(ctx context.Context, config map[string]any) (silence, error) {
	bundle, _, _ := unstructured.NestedString(config, "caBundle")
	if until, expired := s.expired(bundle); expired {
		return silence{"CertificateExpired", "the authority in its caBundle has expired on " + until.UTC().Format(time.DateTime)}, nil
	}
	if at, _ := config["url"].(string); at != "" {
		return s.local(ctx, at, bundle), nil
	}
	namespace, name, port := serviceOf(config)
	if name == "" {
		return silence{}, nil
	}
	reason, problem, err := s.cluster.Silent(ctx, namespace, name, port)
	if problem != "" {
		problem = "service " + namespace + "/" + name + ": " + problem
	}
	return silence{reason, problem}, err
}

// local asks at an address of this machine, as `slipway run` and `slipway dev` have the API server call. Of others it
// is not known what the API server sees.
func (s *scene) local(ctx context.Context, at, bundle string) silence {
	parsed, err := url.Parse(at)
	if err != nil {
		return silence{"InvalidURL", err.Error()}
	}
	here := func(host string) bool {
		address, err := netip.ParseAddr(host)
		return err == nil && address.IsLoopback()
	}
	server, err := url.Parse(s.cluster.Server())
	if err != nil || !here(server.Hostname()) || !here(parsed.Hostname()) || parsed.Port() == "" {
		return silence{}
	}
	return greet(ctx, parsed.Host, bundle)
}

// greet has the server at an address prove who it is, as the API server does before it calls a webhook.
func greet(ctx context.Context, address, bundle string) silence {
	authorities := x509.NewCertPool()
	text, err := base64.StdEncoding.DecodeString(bundle)
	if err != nil || !authorities.AppendCertsFromPEM(text) {
		authorities = nil // of the machine of the API server
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close()
		return silence{}
	}
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	failed, isNet := errors.AsType[*net.OpError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired:
		return silence{"CertificateExpired", "the certificate of the server at " + address + " is not valid now: " + invalid.Detail}
	case unverified && authorities != nil:
		return silence{"CertificateInvalid", "the certificate of the server at " + address + " is refused: " + err.Error()}
	case isNet && failed.Op == "dial":
		return silence{"NoAnswer", "nothing listens at " + address + ", where `slipway run` or `slipway dev` had it"}
	case plain:
		return silence{"NoTLS", "the server at " + address + " does not speak TLS"}
	}
	return silence{} // it may answer to the API server, which can have a certificate of its own
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

// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// KeepCertificate has the manager keep the certificate that it serves webhooks and metrics with: it makes one,
// stores it in a Secret, renews it before it ends, and gives its authority to the API server. The variables that
// config/selfcert sets have the names that it needs; without them nothing is kept.
func KeepCertificate(mgr ctrl.Manager) error {
	secret, namespace, dir := os.Getenv("CERTIFICATE_SECRET"), os.Getenv("POD_NAMESPACE"), os.Getenv("CERTIFICATE_DIR")
	if secret == "" {
		return nil
	}
	key := types.NamespacedName{Namespace: namespace, Name: secret}
	if err := followSecret(mgr, key, dir); err != nil {
		return fmt.Errorf("follow the Secret of the certificate: %w", err)
	}
	callers, err := callers(mgr)
	if err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("authority", (&trust{reader: mgr.GetAPIReader(), callers: callers, dir: dir}).check); err != nil {
		return err
	}
	writer, err := client.New(mgr.GetConfig(), client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("create the client that writes the certificate: %w", err)
	}
	return rotator.AddRotator(named{mgr, writer}, &rotator.CertRotator{
		SecretKey:             key,
		CertDir:               dir,
		CAName:                secret,
		CAOrganization:        namespace,
		DNSName:               os.Getenv("WEBHOOK_SERVICE") + "." + namespace + ".svc",
		ExtraDNSNames:         []string{os.Getenv("METRICS_SERVICE") + "." + namespace + ".svc"},
		IsReady:               make(chan struct{}),
		Webhooks:              callers,
		RequireLeaderElection: true, // one replica renews it, all serve with it
	})
}

// followSecret has every replica write the Secret into dir, from where it serves, as soon as it changes: a volume would
// have it up to a minute later. The cache of its own starts beside the manager's, which may need the webhooks first.
func followSecret(mgr ctrl.Manager, key types.NamespacedName, dir string) error {
	own, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Cache.DefaultNamespaces = map[string]cache.Config{
			key.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name)},
		}
	})
	if err != nil {
		return err
	}
	informer, err := own.GetCache().GetInformer(context.Background(), &corev1.Secret{})
	if err != nil {
		return err
	}
	write := func(object any) {
		if err := writeSecret(object.(*corev1.Secret), dir); err != nil {
			mgr.GetLogger().Error(err, "The certificate cannot be written to files")
		}
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    write,
		UpdateFunc: func(_, changed any) { write(changed) },
	}); err != nil {
		return err
	}
	return mgr.Add(own)
}

// writeSecret writes the certificate into dir, each file at once. It leaves the files as they are while the Secret is
// empty.
func writeSecret(secret *corev1.Secret, dir string) error {
	for _, name := range []string{"ca.crt", "tls.key", "tls.crt"} {
		if len(secret.Data[name]) == 0 {
			return nil
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file+".new", secret.Data[name], 0o600); err != nil {
			return err
		}
		if err := os.Rename(file+".new", file); err != nil {
			return err
		}
	}
	return nil
}

// callers are what the API server calls webhooks by: it must know the authority there.
func callers(mgr ctrl.Manager) ([]rotator.WebhookInfo, error) {
	if os.Getenv("ENABLE_WEBHOOKS") == "false" {
		return nil, nil
	}
	callers := []rotator.WebhookInfo{
		{Name: os.Getenv("MUTATING_WEBHOOKS"), Type: rotator.Mutating},
		{Name: os.Getenv("VALIDATING_WEBHOOKS"), Type: rotator.Validating},
	}
	for kind := range mgr.GetScheme().AllKnownTypes() {
		object, err := mgr.GetScheme().New(kind)
		if err != nil {
			return nil, fmt.Errorf("find the kinds that are converted: %w", err)
		}
		if _, ok := object.(conversion.Hub); !ok {
			continue
		}
		mapping, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind())
		if err != nil {
			return nil, fmt.Errorf("find the definition of %s: %w", kind.Kind, err)
		}
		callers = append(callers, rotator.WebhookInfo{Name: mapping.Resource.GroupResource().String(), Type: rotator.CRDConversion})
	}
	return callers, nil
}

// trust is a readiness check: the API server has the authority of the certificate. After it has, the check asks no
// more.
type trust struct {
	reader  client.Reader
	callers []rotator.WebhookInfo
	dir     string
	given   atomic.Bool
}

func (t *trust) check(r *http.Request) error {
	if t.given.Load() {
		return nil
	}
	authority, err := os.ReadFile(filepath.Join(t.dir, "ca.crt"))
	if err != nil {
		return err
	}
	for _, caller := range t.callers {
		configs, err := t.configs(r.Context(), caller)
		if err != nil {
			return err
		}
		for _, config := range configs {
			if config["caBundle"] != base64.StdEncoding.EncodeToString(authority) {
				return fmt.Errorf("%s does not have the authority yet", caller.Name)
			}
		}
	}
	t.given.Store(true)
	return nil
}

// configs are those by which a caller reaches webhooks.
func (t *trust) configs(ctx context.Context, caller rotator.WebhookInfo) (configs []map[string]any, err error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(map[rotator.WebhookType]schema.GroupVersionKind{
		rotator.Mutating:      {Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
		rotator.Validating:    {Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
		rotator.CRDConversion: {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	}[caller.Type])
	if err := t.reader.Get(ctx, types.NamespacedName{Name: caller.Name}, object); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	callers, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
	if conversion, ok, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook"); ok {
		callers = append(callers, conversion)
	}
	for _, c := range callers {
		if config, ok, _ := unstructured.NestedMap(c.(map[string]any), "clientConfig"); ok {
			configs = append(configs, config)
		}
	}
	return configs, nil
}

// named is the manager for the rotator, whose own cache asks for all objects of a kind: here it gets the
// one that it needs, so that the manager's roles name that one and grant no other.
type named struct {
	ctrl.Manager
	writer client.Client
}

// GetClient is what the rotator writes with: the manager's own client would watch what it writes, all objects of a
// kind.
func (m named) GetClient() client.Client { return m.writer }

// GetConfig is what the rotator connects its cache with.
func (m named) GetConfig() *rest.Config {
	config := rest.CopyConfig(m.Manager.GetConfig())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return selecting{next} })
	return config
}

// selecting asks for the object of a name in lists and watches of its kind.
type selecting struct{ next http.RoundTripper }

// RoundTrip sends the request.
func (s selecting) RoundTrip(r *http.Request) (*http.Response, error) {
	name := map[string]string{
		"secrets":                         os.Getenv("CERTIFICATE_SECRET"),
		"mutatingwebhookconfigurations":   os.Getenv("MUTATING_WEBHOOKS"),
		"validatingwebhookconfigurations": os.Getenv("VALIDATING_WEBHOOKS"),
	}[path.Base(r.URL.Path)]
	if name != "" {
		r = r.Clone(r.Context())
		query := r.URL.Query()
		query.Set("fieldSelector", "metadata.name="+name)
		r.URL.RawQuery = query.Encode()
	}
	return s.next.RoundTrip(r)
}

// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// issueLimit bounds the time until the certificate is in place. It is less than the startup probe allows.
const issueLimit = 45 * time.Second

// KeepCertificate has the manager keep the certificate that it serves webhooks and metrics with: it makes one,
// stores it in a Secret, renews it before it ends, and gives its authority to the API server. The variables that
// config/selfcert sets have the names that it needs; without them nothing is kept.
//
// The certificate is in place when KeepCertificate returns, whichever replica made it. The manager's caches may hold
// objects that its own webhook converts, and the replica that leads may be of a version without webhooks: neither may
// be waited for.
func KeepCertificate(mgr ctrl.Manager) error {
	secret, namespace, dir := os.Getenv("CERTIFICATE_SECRET"), os.Getenv("POD_NAMESPACE"), os.Getenv("CERTIFICATE_DIR")
	if secret == "" {
		return nil
	}
	callers, err := callers(mgr)
	if err != nil {
		return err
	}
	direct, err := client.New(mgr.GetConfig(), client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("create the client that writes the certificate: %w", err)
	}
	certificate := &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: namespace, Name: secret},
		CertDir:        dir,
		CAName:         secret,
		CAOrganization: namespace,
		DNSName:        os.Getenv("WEBHOOK_SERVICE") + "." + namespace + ".svc",
		ExtraDNSNames:  []string{os.Getenv("METRICS_SERVICE") + "." + namespace + ".svc"},
		ExtKeyUsages:   &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsReady:        make(chan struct{}),
		Webhooks:       callers,
	}
	ctx, cancel := context.WithTimeout(context.Background(), issueLimit)
	defer cancel()
	authority, err := issue(ctx, direct, certificate)
	if err != nil {
		return fmt.Errorf("issue the certificate in Secret %s: %w", certificate.SecretKey, err)
	}
	if err := giveAuthority(ctx, direct, callers, authority); err != nil {
		return err
	}
	if err := followSecret(mgr, certificate.SecretKey, dir); err != nil {
		return fmt.Errorf("follow the Secret of the certificate: %w", err)
	}
	check := &trust{reader: mgr.GetAPIReader(), callers: callers, dir: dir, log: mgr.GetLogger()}
	if err := mgr.AddReadyzCheck("authority", check.check); err != nil {
		return err
	}
	return rotator.AddRotator(named{mgr, direct}, certificate)
}

// issue writes the certificate of the Secret into files and returns its authority. It makes a certificate where there
// is none that is valid. Replicas that do so at once agree on the one that is stored first.
func issue(ctx context.Context, c client.Client, certificate *rotator.CertRotator) (authority []byte, err error) {
	secret := &corev1.Secret{}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := c.Get(ctx, certificate.SecretKey, secret); err != nil {
			return err
		}
		valid, _ := rotator.ValidCert(secret.Data["ca.crt"], secret.Data["tls.crt"], secret.Data["tls.key"], certificate.DNSName, certificate.ExtKeyUsages, time.Now())
		if valid {
			return nil
		}
		made, err := newCertificate(certificate)
		if err != nil {
			return err
		}
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		maps.Copy(secret.Data, made)
		return c.Update(ctx, secret)
	})
	if err != nil {
		return nil, err
	}
	return secret.Data["ca.crt"], writeSecret(secret, certificate.CertDir)
}

// newCertificate returns a new authority and a certificate that it signed, as the rotator keeps them in a Secret.
func newCertificate(certificate *rotator.CertRotator) (map[string][]byte, error) {
	begin := time.Now().Add(-time.Hour) // clocks differ
	authority, err := certificate.CreateCACert(begin, begin.AddDate(10, 0, 0))
	if err != nil {
		return nil, err
	}
	cert, key, err := certificate.CreateCertPEM(authority, begin, begin.AddDate(1, 0, 0))
	return map[string][]byte{"ca.crt": authority.CertPEM, "ca.key": authority.KeyPEM, "tls.crt": cert, "tls.key": key}, err
}

// giveAuthority has the API server trust the certificate wherever it calls the webhooks already. The rotator gives the
// authority to what comes later.
func giveAuthority(ctx context.Context, c client.Client, callers []rotator.WebhookInfo, authority []byte) error {
	for _, caller := range callers {
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			object, err := callingObject(ctx, c, caller)
			if err != nil || object == nil || !setAuthority(object, authority) {
				return err
			}
			return c.Update(ctx, object)
		})
		if err != nil {
			return fmt.Errorf("give the authority of the certificate to %s: %w", caller.Name, err)
		}
	}
	return nil
}

// setAuthority sets the authority in all configurations of an object and reports whether one had another.
func setAuthority(object *unstructured.Unstructured, authority []byte) (changed bool) {
	for _, config := range clientConfigs(object) {
		if bundle := base64.StdEncoding.EncodeToString(authority); config["caBundle"] != bundle {
			config["caBundle"] = bundle
			changed = true
		}
	}
	return changed
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
// more. The log has the reason of a failure, which the answer to a probe withholds.
type trust struct {
	reader  client.Reader
	callers []rotator.WebhookInfo
	dir     string
	log     logr.Logger
	given   atomic.Bool
	logged  atomic.Value // the last reason
}

func (t *trust) check(r *http.Request) error {
	if t.given.Load() {
		return nil
	}
	err := t.missing(r.Context())
	if err == nil {
		t.given.Store(true)
	} else if t.logged.Swap(err.Error()) != err.Error() {
		t.log.Info("Not ready", "check", "authority", "reason", err.Error())
	}
	return err
}

// missing is what lacks the authority of the certificate.
func (t *trust) missing(ctx context.Context) error {
	authority, err := os.ReadFile(filepath.Join(t.dir, "ca.crt"))
	if err != nil {
		return err
	}
	for _, caller := range t.callers {
		object, err := callingObject(ctx, t.reader, caller)
		if err != nil {
			return err
		}
		if object != nil && setAuthority(object, authority) {
			return fmt.Errorf("%s does not have the authority yet", caller.Name)
		}
	}
	return nil
}

// callingObject is the object by which the API server calls webhooks; nil if there is none.
func callingObject(ctx context.Context, reader client.Reader, caller rotator.WebhookInfo) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(map[rotator.WebhookType]schema.GroupVersionKind{
		rotator.Mutating:      {Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
		rotator.Validating:    {Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
		rotator.CRDConversion: {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	}[caller.Type])
	if err := reader.Get(ctx, types.NamespacedName{Name: caller.Name}, object); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return object, nil
}

// clientConfigs are those by which an object reaches webhooks, for reading and writing.
func clientConfigs(object *unstructured.Unstructured) (configs []map[string]any) {
	hooks, _, _ := unstructured.NestedFieldNoCopy(object.Object, "webhooks")
	callers, _ := hooks.([]any)
	if conversion, ok, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "conversion", "webhook"); ok {
		callers = append(callers, conversion)
	}
	for _, c := range callers {
		caller, _ := c.(map[string]any)
		if config, ok := caller["clientConfig"].(map[string]any); ok {
			configs = append(configs, config)
		}
	}
	return configs
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

// Add has a part of the rotator end with the manager: it reads from its cache without a context, so a manager that was
// stopped before the cache was filled would wait for it.
func (m named) Add(part manager.Runnable) error {
	return m.Manager.Add(everyReplica(func(ctx context.Context) error {
		ended := make(chan error, 1)
		go func() { ended <- part.Start(ctx) }()
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return nil
		}
	}))
}

// everyReplica runs in each replica, whether it leads or not.
type everyReplica manager.RunnableFunc

// Start runs it.
func (r everyReplica) Start(ctx context.Context) error { return r(ctx) }

// NeedLeaderElection is false.
func (everyReplica) NeedLeaderElection() bool { return false }

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

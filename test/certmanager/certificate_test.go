package certmanager

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	certmanagermeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operator is one that is deployed, and what it is asked by.
type operator struct {
	*cluster
	project
	manifests []*unstructured.Unstructured
}

// TestEverything deploys the CronJob operator with all its features, follows its certificate from the first issue to
// another authority, kills the manager that leads, and has Prometheus collect the metrics.
func TestEverything(t *testing.T) {
	c := newCluster(t)
	c.installCertManager(t)
	c.kubectl(t, "apply", "--server-side", "-f", "testdata/servicemonitors.yaml")
	c.kubectl(t, "wait", "--for=condition=Established", "-f", "testdata/servicemonitors.yaml")
	o := operator{cluster: c, project: newProject(t, c)}
	o.manifests = o.deploy(t)
	first := o.issued(t, nil)
	t.Run("first", func(t *testing.T) {
		o.works(t)
		o.noWarnings(t)
		o.policed(t)
	})
	t.Run("take-over", func(t *testing.T) {
		current := o.issued(t, nil)
		o.takeOver(t)
		o.works(t)
		o.unchanged(t, current)
	})
	t.Run("rotation", func(t *testing.T) {
		before, err := o.bundles(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o.serving(t, func() {
			if err := c.Delete(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			o.issued(t, first)
			o.works(t)
		})
		if after, err := o.bundles(t.Context()); err != nil || !maps.EqualFunc(before, after, bytes.Equal) {
			t.Errorf("a renewal changed the authority from %s to %s (%v)", before, after, err)
		}
	})
	t.Run("deployed again", func(t *testing.T) {
		current := o.issued(t, nil)
		o.deploy(t)
		if bundles, err := o.bundles(t.Context()); err != nil || len(bundles["defaulting"])*len(bundles["validating"])*len(bundles["conversion"]) == 0 {
			t.Errorf("an authority is gone: %v (%v)", bundles, err)
		}
		o.works(t)
		o.unchanged(t, current)
	})
	t.Run("authority", func(t *testing.T) {
		before := o.issued(t, nil)
		o.askAuthority(t)
		o.deploy(t)
		signed := o.issued(t, before)
		if bytes.Equal(signed.Data["ca.crt"], before.Data["ca.crt"]) {
			t.Error("the certificate has the old authority")
		}
		o.works(t)
	})
	t.Run("prometheus", o.collected)
	t.Run("undeploy", o.undeploy)
	t.Run("renamed", func(t *testing.T) {
		o.rename(t, "fleet-", "harbour")
		o.manifests = o.deploy(t)
		o.issued(t, nil)
		o.works(t)
		o.undeploy(t)
	})
}

// policed wants the NetworkPolicy to have been taken by the API server, for the pods that run.
func (o operator) policed(t *testing.T) {
	t.Helper()
	var policy networkingv1.NetworkPolicy
	if err := o.Get(t.Context(), o.key("controller-manager"), &policy); err != nil {
		t.Fatal(err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	if err != nil {
		t.Fatal(err)
	}
	var pods corev1.PodList
	if err := o.List(t.Context(), &pods, client.InNamespace(o.namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 2 {
		t.Errorf("the policy is for %d pods, not for the two managers", len(pods.Items))
	}
}

// noWarnings waits until cert-manager has told of the certificate that was asked for, and wants that it disliked
// nothing.
func (o operator) noWarnings(t *testing.T) {
	t.Helper()
	var events corev1.EventList
	eventually(t, "nothing is told of the request", func(ctx context.Context) error {
		if err := o.List(ctx, &events, client.InNamespace(o.namespace)); err != nil {
			return err
		}
		if !slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Reason == "CertificateIssued" }) {
			return errors.New("not issued yet")
		}
		return nil
	})
	for _, event := range events.Items {
		if event.InvolvedObject.Kind == certmanagerv1.CertificateRequestKind && event.Type == corev1.EventTypeWarning {
			t.Errorf("%s: %s", event.Reason, event.Message)
		}
	}
}

// undeploy takes all away while the manager runs.
func (o operator) undeploy(t *testing.T) {
	t.Helper()
	o.run(t, "undeploy", "--yes")
	left := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}}
	if err := o.Get(t.Context(), client.ObjectKeyFromObject(left), left); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace is there: %v", err)
	}
}

// works waits until the certificate is in use everywhere, and uses it. Every look is at the Secret of that moment:
// cert-manager issues twice in a row when it hears that it has issued before it hears of the Secret that it wrote.
func (o operator) works(t *testing.T) {
	t.Helper()
	o.trusted(t)
	o.served(t)
	o.webhooks(t)
	o.scrape(t)
}

// issued waits until the Certificate is ready and its Secret has another certificate than before, which suits it.
func (o operator) issued(t *testing.T, before *corev1.Secret) *corev1.Secret {
	t.Helper()
	var secret *corev1.Secret
	eventually(t, "the certificate is not issued", func(ctx context.Context) (err error) {
		var certificate certmanagerv1.Certificate
		if secret, err = o.secret(ctx, &certificate); err != nil {
			return err
		}
		if before != nil && bytes.Equal(before.Data["tls.crt"], secret.Data["tls.crt"]) {
			return errors.New("the Secret has the old certificate")
		}
		for _, condition := range certificate.Status.Conditions {
			if condition.Type == certmanagerv1.CertificateConditionReady && condition.Status == certmanagermeta.ConditionTrue &&
				condition.ObservedGeneration == certificate.Generation {
				return nil
			}
		}
		return fmt.Errorf("the Certificate is not ready: %v", certificate.Status.Conditions)
	})
	if bytes.Equal(secret.Data["ca.crt"], secret.Data["tls.crt"]) {
		t.Error("the certificate is its own authority")
	}
	if _, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"]); err != nil {
		t.Errorf("the Secret: %v", err)
	}
	return secret
}

// unchanged wants the Secret to have the certificate that it had.
func (o operator) unchanged(t *testing.T, before *corev1.Secret) {
	t.Helper()
	if after := o.issued(t, nil); !bytes.Equal(before.Data["tls.crt"], after.Data["tls.crt"]) {
		t.Error("there is another certificate")
	}
}

// secret gets the Certificate, and the Secret that it is kept in.
func (o operator) secret(ctx context.Context, certificate *certmanagerv1.Certificate) (*corev1.Secret, error) {
	if err := o.Get(ctx, o.key("controller-manager"), certificate); err != nil {
		return nil, err
	}
	secret := &corev1.Secret{}
	return secret, o.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: certificate.Spec.SecretName}, secret)
}

// trusted waits until all who ask the webhooks know the certificate's authority.
func (o operator) trusted(t *testing.T) {
	t.Helper()
	eventually(t, "the API server is not told the authority", func(ctx context.Context) error {
		secret, err := o.secret(ctx, &certmanagerv1.Certificate{})
		if err != nil {
			return err
		}
		bundles, err := o.bundles(ctx)
		if err != nil {
			return err
		}
		for who, bundle := range bundles {
			if err := verify(secret, bundle, o.host("webhook-service")); err != nil {
				return fmt.Errorf("%s: %w", who, err)
			}
		}
		return nil
	})
}

// bundles are the authorities in webhook configurations and CRDs.
func (o operator) bundles(ctx context.Context) (map[string][]byte, error) {
	var mutating admissionv1.MutatingWebhookConfiguration
	var validating admissionv1.ValidatingWebhookConfiguration
	var definition apiextensionsv1.CustomResourceDefinition
	err := errors.Join(
		o.Get(ctx, client.ObjectKey{Name: o.prefix + "mutating-webhook-configuration"}, &mutating),
		o.Get(ctx, client.ObjectKey{Name: o.prefix + "validating-webhook-configuration"}, &validating),
		o.Get(ctx, client.ObjectKey{Name: "cronjobs.batch.tutorial.kubebuilder.io"}, &definition),
	)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"defaulting": mutating.Webhooks[0].ClientConfig.CABundle,
		"validating": validating.Webhooks[0].ClientConfig.CABundle,
		"conversion": definition.Spec.Conversion.Webhook.ClientConfig.CABundle,
	}, nil
}

// verify does what the API server does in a handshake.
func verify(secret *corev1.Secret, bundle []byte, name string) error {
	certificate, err := parse(secret.Data["tls.crt"])
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err = certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: name})
	return err
}

// served waits until each manager serves webhooks and metrics with the certificate.
func (o operator) served(t *testing.T) {
	t.Helper()
	for _, pod := range o.managers(t) {
		for server, port := range map[string]int{"webhook-service": 9443, "controller-manager-metrics-service": 8443} {
			o.through(t, pod+" has not the certificate for its "+server, o.namespace, "pod/"+pod, port, func(ctx context.Context, address string) error {
				secret, err := o.secret(ctx, &certmanagerv1.Certificate{})
				if err != nil {
					return err
				}
				if err := shows(ctx, address, secret.Data["tls.crt"]); err != nil {
					return err
				}
				return verify(secret, secret.Data["ca.crt"], o.host(server))
			})
		}
	}
}

// shows wants a server to have that certificate.
func shows(ctx context.Context, address string, want []byte) error {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // what it has is looked at here
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	wanted, err := parse(want)
	if err != nil {
		return err
	}
	if has := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]; !has.Equal(wanted) {
		return fmt.Errorf("it has the certificate %x of %s, not %x of %s", has.SerialNumber, has.NotBefore, wanted.SerialNumber, wanted.NotBefore)
	}
	return nil
}

func parse(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("that is no certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}

// authorities are all that is trusted, for a server of that name.
func authorities(bundle []byte, server string) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	return &tls.Config{RootCAs: roots, ServerName: server, MinVersion: tls.VersionTLS12}
}

// askAuthority has the certificate signed by another authority, one of the user's own.
func (o operator) askAuthority(t *testing.T) {
	t.Helper()
	o.edit(t, "config/certmanager/certificate.yaml", `    name: serving-ca
  privateKey:`, `    name: authority
  privateKey:`, "  secretName: serving-cert\n", `  secretName: serving-cert
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: authority
  namespace: system
spec:
  isCA: true
  commonName: cronjob authority
  issuerRef:
    kind: Issuer
    name: serving-ca-signer
  secretName: authority
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: authority
  namespace: system
spec:
  ca:
    secretName: authority
`)
}

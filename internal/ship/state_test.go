package ship

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestStateOfObjects: all objects of a kind are counted; of those that are not ready, or wait for finalizers, some are
// listed.
func TestStateOfObjects(t *testing.T) {
	now := time.Now()
	look := &inspection{cluster: &Cluster{}, now: now}
	var of DefinitionState
	object := func(name string, change func(*unstructured.Unstructured)) {
		o := objects(t, "apiVersion: example.com/v1\nkind: Order\nmetadata: {name: "+name+", namespace: default}")[0]
		change(o)
		look.object(t.Context(), o, &of)
	}
	deleted := func(ago time.Duration, finalizers ...string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) {
			at := metav1.NewTime(now.Add(-ago))
			o.SetDeletionTimestamp(&at)
			o.SetFinalizers(finalizers)
		}
	}
	object("well", func(*unstructured.Unstructured) {})
	object("going", deleted(time.Second, "example.com/hold"))
	object("gone", deleted(time.Hour))
	object("stuck", deleted(time.Hour, "example.com/hold"))
	for i := range mostListed + 5 {
		object(fmt.Sprint("bad-", i), func(o *unstructured.Unstructured) {
			condition := map[string]any{"type": "Ready", "status": "False", "reason": "NoStock", "message": "the shelf is empty"}
			_ = unstructured.SetNestedSlice(o.Object, []any{condition}, "status", "conditions")
		})
	}
	if want := (DefinitionState{Objects: mostListed + 9, NotReady: mostListed + 5, Stuck: 1}); !cmp.Equal(of, want) {
		t.Errorf("got %+v, want %+v", of, want)
	}
	if len(look.state.NotReady) != mostListed || len(look.state.Stuck) != 1 || look.state.Ready() {
		t.Errorf("%d not ready, %d stuck, ready %t", len(look.state.NotReady), len(look.state.Stuck), look.state.Ready())
	}
	want := report.Unready{Object: report.ObjectRef{Kind: "Order", Namespace: "default", Name: "bad-0"}, Reason: "NoStock", Message: "the shelf is empty"}
	if got := look.state.NotReady[0]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestStateOfLeaders: a Lease counts if a pod of a workload in its namespace holds it.
func TestStateOfLeaders(t *testing.T) {
	look := &inspection{now: time.Now(), live: objects(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: manager, namespace: op}")}
	lease := func(namespace, holder string, renewed time.Duration) {
		look.lease(objects(t, fmt.Sprintf("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: l, namespace: %s}\nspec: {holderIdentity: %q, leaseDurationSeconds: 15, renewTime: %q}",
			namespace, holder, look.now.Add(-renewed).UTC().Format("2006-01-02T15:04:05.000000Z")))[0])
	}
	lease("op", "manager-5d-x_8f4e", time.Second)
	lease("op", "manager-5d-y_8f4e", time.Minute)
	lease("op", "another-5d_8f4e", time.Second)
	lease("other", "manager-5d-x_8f4e", time.Second)
	lease("op", "", time.Second)
	var got []string
	for _, l := range look.state.Leaders {
		got = append(got, fmt.Sprint(l.Holder, " ", l.Expired))
	}
	if diff := cmp.Diff([]string{"manager-5d-x false", "manager-5d-y true"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestStateOfCertificates: of a Secret only names and end of its certificate are kept.
func TestStateOfCertificates(t *testing.T) {
	look := &inspection{now: time.Now()}
	secret := func(name, data string) {
		look.certificate(objects(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: "+name+", namespace: op}\ndata: {"+data+"}")[0])
	}
	valid := certificateUntil(t, look.now.Add(time.Hour))
	secret("valid", "tls.crt: "+valid+", tls.key: c2VjcmV0")
	secret("valid", "tls.crt: "+valid)
	secret("expired", "tls.crt: "+certificateUntil(t, look.now.Add(-time.Hour)))
	secret("invalid", "tls.crt: aGVsbG8=")
	secret("other", "password: aGVsbG8=")
	secret("empty", "")
	var got []string
	for _, c := range look.state.Certificates {
		got = append(got, c.Secret.Name+" "+strings.Join(c.Names, ",")+" "+c.Problem)
	}
	if diff := cmp.Diff([]string{"valid service.op.svc ", "expired service.op.svc expired", "invalid  invalid: it is not in PEM"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(look.state.NotReady) != 2 || strings.Contains(fmt.Sprintf("%+v", look.state), "c2VjcmV0") {
		t.Errorf("%+v", look.state)
	}
}

// certificateUntil is a certificate as Secrets have it.
func certificateUntil(t *testing.T, end time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: end, DNSNames: []string{"service.op.svc"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestStateInACluster: what a cluster has of an operator is read, and what is missing is named.
func TestStateInACluster(t *testing.T) {
	c, _ := connect(t)
	text := certificateDefinition + "---" + certified
	remove(t, c, text)
	mustApply(t, c, certificateDefinition, ApplyOptions{})
	mustApply(t, c, certified, ApplyOptions{})
	members, err := c.Live(t.Context(), objects(t, text+"---\napiVersion: nope.example.com/v1\nkind: Nope\nmetadata: {name: x}"))
	if err != nil || len(members) != 3 {
		t.Fatalf("%d members, %v", len(members), err)
	}
	state, err := c.State(t.Context(), members)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Definitions) != 1 || !state.Definitions[0].Established || state.Definitions[0].Objects != 1 || state.Definitions[0].Storage != "v1" {
		t.Errorf("definitions %+v", state.Definitions)
	}
	if len(state.Webhooks) != 1 || state.Webhooks[0].Service != "default/none:443" || state.Webhooks[0].Answers || state.Ready() {
		t.Errorf("webhooks %+v, ready %t", state.Webhooks, state.Ready())
	}
}

// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/slipway-dev/slipway/operator/clustertest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	ingressv1beta1 "example.com/app/api/v1beta1"
)

// The tests of this package share one cluster, whose API server calls the webhooks.
var (
	kinds   = runtime.NewScheme()
	cluster = clustertest.ForPackage(clustertest.Audited(), clustertest.Scheme(kinds),
		clustertest.CRDs("../../../config/crd/bases"), clustertest.Webhooks("../../../config/webhook"))
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(kinds))
	utilruntime.Must(ingressv1beta1.AddToScheme(kinds))
	cluster.Main(m)
}

// A user works with kubectl in a namespace, while the webhooks run under the operator's account.
type user struct {
	*testing.T
	*clustertest.Cluster
	account   *clustertest.Account
	namespace string
}

func newUser(t *testing.T) *user {
	t.Helper()
	c := cluster.Cluster(t)
	u := &user{t, c, c.Account(t, "../../../config/rbac/role.yaml"), c.Namespace(t)}
	mgr, err := ctrl.NewManager(u.account.Config(), ctrl.Options{
		Scheme:        kinds,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(c.WebhookOptions()),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := SetupAppWebhookWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	clustertest.Run(t, mgr)
	c.WaitForWebhooks(t)
	return u
}

// create creates an App, whose spec has these fields besides, and returns enable_ingress as it is stored.
func (u *user) create(name, fields string) (string, error) {
	u.Helper()
	file := filepath.Join(u.TempDir(), name+".json")
	text := `{"apiVersion": "ingress.baiding.tech/v1beta1", "kind": "App", "metadata": {"name": "` + name + `"},
		"spec": {"image": "nginx:1.29", "replicas": 0, ` + fields + `}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		u.Fatal(err)
	}
	if _, err := u.Kubectl(u.T, "create", "--namespace", u.namespace, "--filename", file); err != nil {
		return "", err
	}
	return u.stored(name), nil
}

func (u *user) patch(name, spec string) (string, error) {
	u.Helper()
	_, err := u.Kubectl(u.T, "patch", "app", name, "--namespace", u.namespace, "--type=merge", "--patch", `{"spec":{`+spec+`}}`)
	if err != nil {
		return "", err
	}
	return u.stored(name), nil
}

func (u *user) stored(name string) string {
	u.Helper()
	out, err := u.Kubectl(u.T, "get", "app", name, "--namespace", u.namespace, "--output", "jsonpath={.spec.enable_ingress}")
	if err != nil {
		u.Fatal(err)
	}
	return out
}

// What the API server stores, or why it refuses: enable_ingress is filled in once, and needs the Service.
func TestKubectl(t *testing.T) {
	u := newUser(t)
	for i, test := range []struct{ fields, stored, refused string }{
		{`"enable_service": true`, "true", ""},
		{`"enable_service": false`, "false", ""},
		{`"enable_service": true, "enable_ingress": false`, "false", ""},
		{`"enable_service": true, "enable_ingress": true`, "true", ""},
		{`"enable_service": false, "enable_ingress": false`, "false", ""},
		{`"enable_service": false, "enable_ingress": true`, "", "spec.enable_ingress: Invalid value: true: an Ingress needs the Service"},
		{`"enable_ingress": true`, "", "spec.enable_service: Required value"},
	} {
		got, err := u.create(fmt.Sprintf("app-%d", i), test.fields)
		u.want(test.fields, got, err, test.stored, test.refused)
	}
	for _, test := range []struct{ spec, stored, refused string }{ // one after the other, to the same App
		{`"replicas":3`, "true", ""},
		{`"replicas":4`, "true", ""},
		{`"enable_service":false`, "", "set enable_service, or enable_ingress to false"},
		{`"enable_service":false,"enable_ingress":null`, "false", ""},
		{`"enable_ingress":true`, "", "an Ingress needs the Service"},
		{`"enable_service":true`, "false", ""},
		{`"enable_ingress":null`, "true", ""},
	} {
		got, err := u.patch("app-0", test.spec)
		u.want(test.spec, got, err, test.stored, test.refused)
	}
	if requests := u.account.Requests(t); len(requests) > 0 {
		t.Errorf("the webhooks asked the API server for something: %s", requests[0])
	}
}

// want checks what is stored, or why nothing is.
func (u *user) want(what, got string, err error, stored, refused string) {
	u.Helper()
	switch {
	case refused == "" && (err != nil || got != stored):
		u.Errorf("%s: enable_ingress is %q, want %q: %v", what, got, stored, err)
	case refused != "" && (err == nil || !strings.Contains(err.Error(), refused)):
		u.Errorf("%s: %v, want %q", what, err, refused)
	}
}

// One that was stored before there were webhooks can be changed and deleted; only a new mistake is refused.
func TestBadOneFromBefore(t *testing.T) {
	v := &AppValidator{}
	old := &ingressv1beta1.App{Spec: ingressv1beta1.AppSpec{EnableIngress: new(true)}}
	changed := old.DeepCopy()
	changed.Spec.Replicas = 3
	if _, err := v.ValidateUpdate(t.Context(), old, changed); err != nil {
		t.Errorf("a change of something else is refused: %v", err)
	}
	good := &ingressv1beta1.App{}
	if _, err := v.ValidateUpdate(t.Context(), good, changed); err == nil {
		t.Error("a new mistake is not refused")
	}
	changed.DeletionTimestamp = new(metav1.Now())
	if _, err := v.ValidateUpdate(t.Context(), good, changed); err != nil {
		t.Errorf("the end of a deletion is refused: %v", err)
	}
	if _, err := v.ValidateDelete(t.Context(), old); err != nil {
		t.Errorf("a deletion is refused: %v", err)
	}
}

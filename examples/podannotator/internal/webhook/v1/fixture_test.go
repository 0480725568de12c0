// Copyright 2026 The podannotator authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/slipway-dev/slipway/operator/clustertest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// cluster is shared by the tests of this package, which isolate what they change in it: a webhook for Pods concerns all
// namespaces.
var cluster = clustertest.ForPackage(clustertest.Audited())

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	cluster.Main(m)
}

// A fixture is a cluster that asks the webhook for Pods.
type fixture struct {
	*testing.T
	*clustertest.Cluster
	account   *clustertest.Account // the operator's
	namespace string               // the user's
	admin     client.Client
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := cluster.Cluster(t).Isolated(t, clustertest.Webhooks("../../../config/webhook"))
	return &fixture{t, c, c.Account(t, "../../../config/rbac/role.yaml"), c.Namespace(t), c.Client(t)}
}

// start runs the operator until it is stopped, or the test ends.
func (f *fixture) start() (stop func()) {
	f.Helper()
	mgr, err := ctrl.NewManager(f.account.Config(), ctrl.Options{
		Scheme:        clientgoscheme.Scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(f.WebhookOptions()),
	})
	if err != nil {
		f.Fatal(err)
	}
	if err := SetupPodWebhookWithManager(mgr); err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.Context()))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.Error(err)
		}
	})
	f.Cleanup(stop)
	f.WaitForWebhooks(f.T)
	return stop
}

// kubectl runs the real kubectl in the user's namespace.
func (f *fixture) kubectl(args ...string) (string, error) {
	f.Helper()
	return f.Kubectl(f.T, append([]string{"--namespace", f.namespace}, args...)...)
}

// must runs kubectl, which is to succeed.
func (f *fixture) must(args ...string) string {
	f.Helper()
	out, err := f.kubectl(args...)
	if err != nil {
		f.Fatal(err)
	}
	return out
}

// asJane are the arguments with which kubectl works as a user of that name.
var asJane = []string{"--as=jane", "--as-group=system:masters"}

// wantCreator checks the annotation of a Pod.
func (f *fixture) wantCreator(pod, want string) {
	f.Helper()
	got := f.must("get", "pod", pod, "--output=jsonpath={.metadata.annotations."+strings.ReplaceAll(CreatedBy, ".", `\.`)+"}")
	if got != want {
		f.Errorf("%s was created by %q, want %q", pod, got, want)
	}
}

// eventually looks until there is something to see.
func (f *fixture) eventually(what string, look func() (bool, error)) {
	f.Helper()
	err := wait.PollUntilContextTimeout(f.Context(), 50*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) { return look() })
	if err != nil {
		f.Fatalf("still waiting: %s: %v", what, err)
	}
}

func (f *fixture) pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
	}
}

const image = "registry.k8s.io/pause:3.10"

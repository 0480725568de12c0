// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/slipway-dev/slipway/operator/clustertest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	redisv1 "example.com/rediscluster/api/v1"
)

// The tests of this package share one cluster.
var (
	kinds   = runtime.NewScheme()
	cluster = clustertest.ForPackage(clustertest.Audited(), clustertest.Scheme(kinds), clustertest.CRDs("../../../config/crd/bases"))
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(redisv1.AddToScheme(kinds))
	cluster.Main(m)
}

// A fixture is a cluster, which asks the webhooks once they are started, and what a user does in it.
type fixture struct {
	*testing.T
	*clustertest.Cluster
	account   *clustertest.Account // the operator's
	namespace string               // the user's
	user      client.Client
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := cluster.Cluster(t).Isolated(t) // since webhooks are asked in all namespaces
	return &fixture{t, c, c.Account(t, "../../../config/rbac/role.yaml"), c.Namespace(t), c.Client(t)}
}

// start runs the webhooks, and has the API server ask them.
func (f *fixture) start() {
	f.Helper()
	f.InstallWebhooks(f.T, "../../../config/webhook")
	mgr, err := ctrl.NewManager(f.account.Config(), ctrl.Options{
		Scheme:        kinds,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(f.WebhookOptions()),
	})
	if err != nil {
		f.Fatal(err)
	}
	if err := SetupRedisClusterWebhookWithManager(mgr); err != nil {
		f.Fatal(err)
	}
	clustertest.Run(f.T, mgr)
	f.WaitForWebhooks(f.T)
	f.waitUntilAsked()
}

// waitUntilAsked waits until the API server knows both webhooks, a moment after they are installed. Only a size that
// one of them has raised passes the schema, and only then is the other asked about the addr.
func (f *fixture) waitUntilAsked() {
	f.Helper()
	err := wait.PollUntilContextTimeout(f.Context(), 10*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		probe := f.redis("probe")
		probe.Spec.Size, probe.Spec.Addr = 0, "nowhere"
		err := f.user.Create(ctx, probe, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "must be ip:port"), nil
	})
	if err != nil {
		f.Fatalf("the API server does not ask the webhooks: %v", err)
	}
}

// redis is a RedisCluster that is good as it is.
func (f *fixture) redis(name string) *redisv1.RedisCluster {
	return &redisv1.RedisCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Spec:       redisv1.RedisClusterSpec{Size: redisv1.MinSize, Addr: "0.0.0.0:6379"},
	}
}

// kubectl runs the real kubectl in the user's namespace.
func (f *fixture) kubectl(args ...string) (string, error) {
	f.Helper()
	return f.Kubectl(f.T, append([]string{"--namespace", f.namespace}, args...)...)
}

// apply has kubectl apply a RedisCluster, and returns the size that is stored.
func (f *fixture) apply(name, spec string) (size string, err error) {
	f.Helper()
	path := filepath.Join(f.TempDir(), "redis.yaml")
	manifest := fmt.Sprintf("apiVersion: bytewang123-redis.wzj.kubebuilder.io/v1\nkind: RedisCluster\nmetadata: {name: %s}\nspec: %s\n", name, spec)
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		f.Fatal(err)
	}
	return f.kubectl("apply", "--filename="+path, "--output=jsonpath={.spec.size}")
}

// What the webhooks fill in and refuse. One object is older than they are.
func TestWebhooks(t *testing.T) {
	f := newFixture(t)
	old := f.redis("old")
	old.Spec.Addr, old.Finalizers = "nowhere", []string{"example.com/late"}
	if err := f.user.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.testSize()
	f.testAddr()
	f.testKubectl()
	f.testOld(old)
	f.WaitForEmpty(t, f.namespace)
	if asked := f.account.Requests(t); len(asked) > 0 {
		t.Errorf("the webhooks asked the API server: %s", asked[0])
	}
}

// testSize: less than six instances become six, on create and on update; more stay.
func (f *fixture) testSize() {
	redis := f.redis("size")
	for i, test := range []struct{ size, want int32 }{{-1, 6}, {0, 6}, {5, 6}, {6, 6}, {7, 7}, {3, 6}, {100, 100}} {
		redis.Spec.Size = test.size
		write := f.user.Update
		if i == 0 {
			write = func(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
				return f.user.Create(ctx, o)
			}
		}
		if err := write(f.Context(), redis); err != nil || redis.Spec.Size != test.want {
			f.Errorf("size %d becomes %d, want %d: %v", test.size, redis.Spec.Size, test.want, err)
		}
	}
	redis.Spec.Size = 101
	if err := f.user.Update(f.Context(), redis); err == nil || !strings.Contains(err.Error(), "less than or equal to 100") {
		f.Errorf("a size of 101 is answered with %v", err)
	}
}

// testAddr: what is no ip:port is refused with the field's path, on create and on update.
func (f *fixture) testAddr() {
	stored := f.redis("addr")
	stored.Spec.Addr = "[::]:6379"
	if err := f.user.Create(f.Context(), stored); err != nil {
		f.Errorf("an address of IPv6 is refused: %v", err)
	}
	for _, bad := range []string{"", ":", "0.0.0.0", ":6379", "0.0.0.0:", "redis:6379", "0.0.0.0:redis", "0.0.0.0:65536", "0.0.0.0:0", "1.2.3:1", "::1:6379", "1.2.3.4:5:6"} {
		want := fmt.Sprintf("spec.addr: Invalid value: %q: must be ip:port", bad)
		redis := f.redis("bad")
		redis.Spec.Addr, stored.Spec.Addr = bad, bad
		if err := f.user.Create(f.Context(), redis); err == nil || !strings.Contains(err.Error(), want) {
			f.Errorf("create with addr %q: %v, want %s", bad, err, want)
		}
		if err := f.user.Update(f.Context(), stored); err == nil || !strings.Contains(err.Error(), want) {
			f.Errorf("update with addr %q: %v, want %s", bad, err, want)
		}
	}
}

// testKubectl: the same as a user sees it who writes manifests.
func (f *fixture) testKubectl() {
	for spec, want := range map[string]string{
		`{addr: "0.0.0.0:6379"}`:           "6",
		`{addr: "0.0.0.0:6379", size: 3}`:  "6",
		`{addr: "0.0.0.0:6379", size: 10}`: "10",
	} {
		if got, err := f.apply("applied", spec); err != nil || got != want {
			f.Errorf("%s: size %q, want %s: %v", spec, got, want, err)
		}
	}
	for spec, want := range map[string]string{
		"{size: 6}":                  "spec.addr: Required value",
		`{size: 6, addr: ""}`:        `The RedisCluster "refused" is invalid: spec.addr: Invalid value: "": must be ip:port`,
		`{size: 6, addr: "redis:1"}`: `The RedisCluster "refused" is invalid: spec.addr: Invalid value: "redis:1": must be ip:port`,
	} {
		if _, err := f.apply("refused", spec); err == nil || !strings.Contains(err.Error(), want) {
			f.Errorf("%s is answered with %v, want %s", spec, err, want)
		}
	}
	if _, err := f.kubectl("delete", "redisclusters", "size", "addr", "applied"); err != nil {
		f.Error(err)
	}
}

// testOld: a mistake from a time without the webhook does not keep its object from being changed, nor deleted.
func (f *fixture) testOld(old *redisv1.RedisCluster) {
	old.Labels = map[string]string{"tier": "cache"}
	if err := f.user.Update(f.Context(), old); err != nil {
		f.Errorf("change another field: %v", err)
	}
	if err := f.user.Delete(f.Context(), old); err != nil {
		f.Error(err)
	}
	if err := f.user.Patch(f.Context(), old, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		f.Errorf("end the deletion: %v", err)
	}
}

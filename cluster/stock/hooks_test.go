package stock

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// TestHooksDoWhatUpstreamsDo: on a server that lacks roles and priority classes they make them, and where all is there
// they have nothing to do.
func TestHooksDoWhatUpstreamsDo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	host, err := engine.Start(ctx, engine.Options{
		Dir: t.TempDir(), Main: engine.Spec{Name: "test"}, Logger: func(string) *slog.Logger { return slog.New(slog.DiscardHandler) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Stop()
	config, err := clientcmd.BuildConfigFromFlags("", host.Main().Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	there := []struct {
		what string
		look func() error
		cut  func() error
	}{
		{"a cluster role", func() error {
			_, err := client.RbacV1().ClusterRoles().Get(ctx, "view", metav1.GetOptions{})
			return err
		}, func() error { return client.RbacV1().ClusterRoles().Delete(ctx, "view", metav1.DeleteOptions{}) }},
		{"a role binding", func() error {
			_, err := client.RbacV1().RoleBindings("kube-system").Get(ctx, "system:controller:bootstrap-signer", metav1.GetOptions{})
			return err
		}, func() error {
			return client.RbacV1().RoleBindings("kube-system").Delete(ctx, "system:controller:bootstrap-signer", metav1.DeleteOptions{})
		}},
		{"a priority class", func() error {
			_, err := client.SchedulingV1().PriorityClasses().Get(ctx, "system-node-critical", metav1.GetOptions{})
			return err
		}, func() error { return host.Store().Delete(ctx, "/registry/priorityclasses/system-node-critical") }}, // the API forbids it
	}
	for _, x := range there {
		if err := x.cut(); err != nil {
			t.Fatalf("%s: %v", x.what, err)
		}
	}
	hook := genericapiserver.PostStartHookContext{Context: ctx, LoopbackClientConfig: config}
	for range 2 { // the second time all is there
		for _, h := range promptHooks() {
			if err := h.run(hook); err != nil {
				t.Errorf("%s: %v", h.name, err)
			}
		}
		for _, x := range there {
			if err := x.look(); err != nil {
				t.Errorf("%s: %v", x.what, err)
			}
		}
	}
}

// TestPromptly: a hook tries at once and again until it is done, or fails for good; a server that stops makes it no
// failure.
func TestPromptly(t *testing.T) {
	problem := errors.New("why")
	for name, tt := range map[string]struct {
		tries   int // until it is done
		err     error
		stopped bool
		want    string
	}{
		"at once": {1, nil, false, ""}, "the third time": {3, nil, false, ""}, "never": {1, problem, false, "unable to do it: why"}, "stopped": {1, problem, true, ""},
	} {
		ctx, stop := context.WithCancel(t.Context())
		tried := 0
		err := promptly("do it", func(context.Context, kubernetes.Interface) (bool, error) {
			tried++
			if tt.stopped {
				stop()
			}
			return tried == tt.tries, tt.err
		})(genericapiserver.PostStartHookContext{Context: ctx, LoopbackClientConfig: &rest.Config{Host: "https://127.0.0.1:1"}})
		stop()
		if tried != tt.tries || (err != nil) != (tt.want != "") || err != nil && (!strings.Contains(err.Error(), tt.want) || !errors.Is(err, tt.err)) {
			t.Errorf("%s: tried %d times, %v", name, tried, err)
		}
	}
}

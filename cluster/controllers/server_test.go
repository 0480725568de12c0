package controllers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/hostaddress"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/pki"
)

// server is an API server without controllers, which all tests share: the first that needs it starts it.
var server struct {
	once   sync.Once
	dir    string
	host   *engine.Host
	config *rest.Config
	err    error
}

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	defer func() {
		if server.host != nil {
			server.host.Stop()
		}
		_ = os.RemoveAll(server.dir)
	}()
	return m.Run()
}

func startServer() error {
	ctx, cancel := context.WithTimeout(context.Background(), testlimit.Hang)
	defer cancel()
	var err error
	if server.dir, err = os.MkdirTemp("", "controllers-"); err != nil {
		return err
	}
	server.host, err = engine.Start(ctx, engine.Options{
		Dir: server.dir, Main: engine.Spec{Name: "test"}, Logger: func(string) *slog.Logger { return slog.New(slog.DiscardHandler) },
	})
	if err != nil {
		return err
	}
	server.config, err = clientcmd.BuildConfigFromFlags("", server.host.Main().Kubeconfig())
	if err != nil {
		return err
	}
	server.config.QPS = -1
	return nil
}

// admin has all rights on the server.
func admin(t *testing.T) *rest.Config {
	t.Helper()
	server.once.Do(func() { server.err = startServer() })
	if server.err != nil {
		t.Fatal(server.err)
	}
	return rest.CopyConfig(server.config)
}

// clean leaves the server to the next test as it was at first.
func clean(t *testing.T) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testlimit.Hang)
		defer cancel()
		if _, err := server.host.Main().Reset(ctx); err != nil {
			t.Error(err)
		}
	})
}

// run runs some of the controllers, by name, until the test ends.
func run(t *testing.T, names ...string) kubernetes.Interface {
	t.Helper()
	return runOnHost(t, hostaddress.Range{}, names...)
}

// runOnHost is run for a cluster whose Services have addresses of this machine.
func runOnHost(t *testing.T, host hostaddress.Range, names ...string) kubernetes.Interface {
	t.Helper()
	all := controllers.All()
	some := slices.DeleteFunc(slices.Clone(all), func(c controllers.Controller) bool { return !slices.Contains(names, c.Name) })
	if len(some) != len(names) {
		t.Fatalf("%d controllers are called %q", len(some), names)
	}
	return runList(t, some, host)
}

func runList(t *testing.T, list []controllers.Controller, host hostaddress.Range) kubernetes.Interface {
	t.Helper()
	config := admin(t)
	clean(t) // after the controllers have ended
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := pki.In(server.dir + "/pki")
	ctx, stop := context.WithCancel(context.Background())
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- controllers.Run(ctx, controllers.Config{
			Client: config, RootCA: []byte("root"), CAFile: keys.CA, CAKeyFile: keys.CAKey, ServiceAccountKey: key, Host: host,
		}, list, func(informed.View) { close(started) })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the controllers ended with %v", err)
		}
	})
	select {
	case <-started:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	case <-time.After(testlimit.Hang):
		t.Fatal("the controllers do not start")
	}
	return client
}

// namespace makes a namespace in which pods can be made.
func namespace(t *testing.T, client kubernetes.Interface, name string) string {
	t.Helper()
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.CoreV1().ServiceAccounts(name).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return name
}

// eventually asks until the answer is what is wanted.
func eventually[T comparable](t *testing.T, what string, want T, ask func(context.Context) (T, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := ask(ctx)
		if err == nil && got == want {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: %v (%v), want %v", what, got, err, want)
		}
	}
}

// TestAllAreSetUp: all controllers run beside each other on one server, and a Deployment becomes pods.
func TestAllAreSetUp(t *testing.T) {
	client := runList(t, controllers.All(), hostaddress.Range{})
	made, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "all"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the default service account of a namespace", true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(made.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, err
	})
	eventually(t, "the root certificate of a namespace", "root", func(ctx context.Context) (string, error) {
		m, err := client.CoreV1().ConfigMaps(made.Name).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		return m.Data["ca.crt"], nil
	})
	if _, err := client.AppsV1().Deployments(made.Name).Create(t.Context(), deployment("web", 2), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Deployment's pods", 2, func(ctx context.Context) (int, error) {
		pods, err := client.CoreV1().Pods(made.Name).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil {
			return 0, err
		}
		return len(pods.Items), nil
	})
}

// TestSetUpFails: the error names the controller that could not be set up, and no loop runs then.
func TestSetUpFails(t *testing.T) {
	problem := fmt.Errorf("no way")
	err := controllers.Run(t.Context(), controllers.Config{Client: admin(t)}, []controllers.Controller{
		{Name: "fine", New: func(context.Context, *controllers.Deps) (controllers.Loop, error) {
			return func(context.Context) { t.Error("a loop runs") }, nil
		}},
		{Name: "broken", New: func(context.Context, *controllers.Deps) (controllers.Loop, error) { return nil, problem }},
	}, func(informed.View) { t.Error("they count as started") })
	if want := "set up the broken: no way"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

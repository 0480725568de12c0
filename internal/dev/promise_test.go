package dev

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

var (
	definitionResource    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	configurationResource = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}
)

const frigates = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "frigates.ship.example.com"},
"spec": {"group": "ship.example.com", "scope": "Namespaced", "names": {"plural": "frigates", "singular": "frigate", "kind": "Frigate", "listKind": "FrigateList"},
"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:2/theirs"}}},
"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}`

const frigateHooks = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating-webhook-configuration
webhooks:
- name: vfrigate.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig:
    service: {name: webhook-service, namespace: system, path: /validate}
  rules:
  - {apiGroups: [ship.example.com], apiVersions: [v1], operations: [CREATE], resources: [frigates]}
`

// servedAlone is a run of nothing but its webhooks: the project and the kubeconfig are in the folder that it starts in,
// and so is the file of its notes.
func servedAlone() {
	o := Options{Dir: ".", Code: codeIn("."), State: os.Getenv("STATE"), WebhookAddress: os.Getenv("WEBHOOK_ADDRESS"), Handler: report.HandlerFunc(takeNote)}
	if self, err := os.Executable(); err == nil && os.Getenv("GUARDED") != "" {
		o.Guard, o.Env = []string{self}, append(os.Environ(), roleVariable+"=guard", "KUBECONFIG=kubeconfig")
	}
	cluster, err := ship.Connect(ship.Kubeconfig{Path: "kubeconfig"}, report.Discard)
	if err != nil {
		panic(err)
	}
	l, err := o.listens([]string{"--webhook-port=" + os.Getenv("PORT")})
	if err != nil {
		panic(err)
	}
	_, own, err := state.Home{Dir: o.State}.Own(context.Background(), cluster)
	if err != nil {
		panic(err)
	}
	defer Withstand()()
	hooks, err := o.webhooks(o.Code(), l)
	if err != nil {
		panic(err)
	}
	webhooks, err := serveWebhooks(context.Background(), o, cluster, own, l, hooks)
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	defer runtime.KeepAlive(webhooks) // which holds the lock, as a session does
	webhooks.forward(serveNothing(webhooks))
	if webhooks.unproven() {
		if err := webhooks.rely(context.Background(), o, webhooks.detour); err != nil {
			panic(err)
		}
	}
	fmt.Println("running")
	if os.Getenv("STAY") != "" {
		select {}
	}
	if err := webhooks.close(o); err != nil {
		panic(err)
	}
}

// guardAlone is the guard of a run.
func guardAlone() {
	if err := Guard(context.Background(), Options{State: os.Getenv("STATE"), Env: os.Environ()}, os.Args[len(os.Args)-1], os.Stdin); err != nil {
		panic(err)
	}
}

// takeNote writes down what a run says.
func takeNote(e report.Event) {
	text := ""
	switch e := e.(type) {
	case report.Note:
		text = e.Text
	case report.Warning:
		text = "warning: " + e.Text
	}
	file, err := os.OpenFile("notes", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(file, text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		panic(err)
	}
}

// serveNothing is a manager that serves with its certificate, and has no webhook.
func serveNothing(w *webhooks) (address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(w.certificates(), "tls.crt"), filepath.Join(w.certificates(), "tls.key"))
	if err != nil {
		panic(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler(), TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	go func() { panic(server.ServeTLS(listener, "", "")) }()
	return listener.Addr().String()
}

// sea is a cluster, a gate through which runs reach it, and what tells whether all is as before.
type sea struct {
	state      string // the folder with the cluster's state
	kubeconfig string
	config     *rest.Config
	direct     *ship.Cluster
	objects    dynamic.Interface
	gate       *httptest.Server
	hit        func(n int64, before bool) // is told of the nth request that changes something, before it is handed on and after
	changes    atomic.Int64
}

// startSea starts a cluster with a definition whose kind is converted elsewhere.
func startSea(t *testing.T) *sea {
	t.Helper()
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		t.Skip("SLIPWAY_CLUSTER names no cluster program; `make test` does")
	}
	s := &sea{state: t.TempDir(), hit: func(int64, bool) {}}
	control := clusterctl.New(func(name string) string {
		if name == "SLIPWAY_STATE" {
			return s.state
		}
		return os.Getenv(name)
	}, report.Discard)
	status, err := control.Start(t.Context(), "dev", clusterctl.Options{NoContext: true, Timeout: testlimit.Hang})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := control.Delete(context.Background(), "dev"); err != nil {
			t.Error(err)
		}
	})
	s.kubeconfig = status.Kubeconfig
	if s.config, err = clientcmd.BuildConfigFromFlags("", s.kubeconfig); err != nil {
		t.Fatal(err)
	}
	s.config.QPS = -1
	if s.direct, err = ship.New(s.config, "default", report.Discard); err != nil {
		t.Fatal(err)
	}
	if s.objects, err = dynamic.NewForConfig(s.config); err != nil {
		t.Fatal(err)
	}
	crd := &unstructured.Unstructured{}
	if err := crd.UnmarshalJSON([]byte(frigates)); err != nil {
		t.Fatal(err)
	}
	if err := s.direct.Apply(t.Context(), []*unstructured.Unstructured{crd}, ship.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	return s
}

// open lets runs in.
func (s *sea) open(t *testing.T) {
	t.Helper()
	transport, err := rest.TransportFor(s.config)
	if err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse(s.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(server)
	proxy.Transport = transport
	s.gate = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(context.WithoutCancel(r.Context())) // what was sent is stored, whoever sent it
		if r.Method == http.MethodGet {
			proxy.ServeHTTP(w, r)
			return
		}
		n := s.changes.Add(1)
		s.hit(n, true)
		proxy.ServeHTTP(w, r)
		s.hit(n, false)
	}))
	pair, err := tls.LoadX509KeyPair(s.pki("apiserver.crt"), s.pki("apiserver.key"))
	if err != nil {
		t.Fatal(err)
	}
	s.gate.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	s.gate.StartTLS()
	t.Cleanup(s.gate.Close)
}

// pki is the path of one of the cluster's keys and certificates.
func (s *sea) pki(name string) string { return filepath.Join(s.state, "clusters", "dev", "pki", name) }

// project makes a folder for a run.
func (s *sea) project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	kubeconfig := fmt.Sprintf(`{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}], "clusters": [{"name": "c", "cluster": {"server": %q, "certificate-authority": %q}}]}`, s.gate.URL, s.pki("ca.crt"))
	for name, text := range map[string]string{"PROJECT": hookedProject, "config/webhook/manifests.yaml": frigateHooks, "kubeconfig": kubeconfig} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run prepares a run in a folder.
func (s *sea) run(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	address, free := listen(t)
	free()
	cmd := program("served", nil)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, append([]string{"STATE=" + s.state, "PORT=" + address[strings.LastIndex(address, ":")+1:]}, env...)...)
	s.changes.Store(0)
	return cmd
}

// asks says what the cluster asks: the conversion, its owners, and the configurations.
func (s *sea) asks(t *testing.T) map[string]any {
	t.Helper()
	crd, err := s.objects.Resource(definitionResource).Get(t.Context(), "frigates.ship.example.com", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.objects.Resource(configurationResource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conversion, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion")
	all := map[string]any{"conversion": conversion, "configurations": len(list.Items)}
	for _, entry := range crd.GetManagedFields() {
		if entry.Subresource == "" {
			all["fields of "+entry.Manager] = entry.FieldsV1.String()
		}
	}
	return all
}

// TestServedWebhooks starts one cluster for the tests of what runs change in it.
func TestServedWebhooks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals are sent")
	}
	s := startSea(t)
	t.Run("given back", s.testGivenBack)
	t.Run("second run", s.testSecondRun)
}

// testGivenBack: wherever a run is killed, before or after a change of it is stored, the next command gives the
// webhooks back; and signals that come twice or more, as a terminal that closes sends them, do not keep the run from
// doing so itself.
func (s *sea) testGivenBack(t *testing.T) {
	before := s.asks(t)
	s.hit = func(int64, bool) {}
	dir := s.project(t)
	if err := s.run(t, dir).Run(); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
		t.Fatalf("without a kill (-before +after):\n%s", diff)
	}
	const atLeast = 5
	// A run makes more changes than another one where the server itself has changed a definition meanwhile, so each one
	// tells whether it came that far.
	for step, killed := int64(1), true; killed || step <= atLeast; step++ {
		for _, early := range []bool{true, false} {
			if killed = s.kill(t, dir, step, early); !killed && step <= atLeast {
				t.Fatalf("a run makes only %d changes", s.changes.Load())
			}
			if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
				t.Errorf("killed at change %d, early %t (-before +after):\n%s", step, early, diff)
			}
		}
	}
	for _, signals := range [][]syscall.Signal{{syscall.SIGHUP, syscall.SIGHUP}, {syscall.SIGINT, syscall.SIGINT, syscall.SIGTERM}, {syscall.SIGPIPE}} {
		cmd := s.run(t, dir)
		s.hit = func(int64, bool) {
			for _, signal := range signals {
				_ = cmd.Process.Signal(signal)
			}
		}
		if err := cmd.Run(); err != nil {
			t.Errorf("%v at each change: %v", signals, err)
		}
		if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
			t.Errorf("%v at each change (-before +after):\n%s", signals, diff)
		}
	}
}

// kill has a run killed at a change, and another command come after it. It returns false for a run that makes fewer
// changes.
func (s *sea) kill(t *testing.T, dir string, step int64, early bool) (killed bool) {
	t.Helper()
	cmd := s.run(t, dir)
	gone := make(chan struct{})
	s.hit = func(n int64, before bool) {
		if n == step && before == early {
			_ = cmd.Process.Kill()
			<-gone
			if early { // it had not sent it
				panic(http.ErrAbortHandler)
			}
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	close(gone)
	if err == nil {
		return false
	}
	state := s.state
	if owed, err := Owed(t.Context(), state, s.direct); err != nil || len(owed) == 0 {
		t.Errorf("killed at change %d: nothing is owed, %v", step, err)
	}
	if err := TakeBack(t.Context(), state, s.direct, report.Discard); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(promises(state), "*"+promiseSuffix)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	return true
}

// testSecondRun: of two runs of a project the second one refuses, and what the first one made stays; that one's promise
// is not kept by others.
func (s *sea) testSecondRun(t *testing.T) {
	s.hit = func(int64, bool) {}
	before := s.asks(t)
	dir := s.project(t)
	first := s.run(t, dir, "STAY=1")
	r, w := output(t)
	first.Stdout = w
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	untilRunning(t, r)
	meanwhile := s.asks(t)
	second := s.run(t, dir)
	second.Stdout = nil
	said, err := second.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 || !strings.Contains(string(said), "another slipway run of this project") {
		t.Errorf("the second run: %v, %s", err, said)
	}
	state := s.state
	if err := TakeBack(t.Context(), state, s.direct, report.Discard); err != nil {
		t.Error(err)
	}
	if diff := gocmp.Diff(meanwhile, s.asks(t)); diff != "" {
		t.Errorf("while the first runs (-before +after):\n%s", diff)
	}
	if info, err := os.Stat(promises(state)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	paths, _ := filepath.Glob(filepath.Join(promises(state), "*"))
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	if err := TakeBack(t.Context(), state, s.direct, report.Discard); err != nil {
		t.Error(err)
	}
	if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
		t.Errorf("afterwards (-before +after):\n%s", diff)
	}
}

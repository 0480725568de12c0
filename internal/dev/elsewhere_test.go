package dev

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestElsewhere starts one cluster, on loopback, for the tests of what runs change in one that is not slipway's own: it
// is so for each run with another state.
func TestElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals are sent")
	}
	s := startSea(t)
	t.Run("untouched", s.testUntouched)
	t.Run("forwarded", s.testForwarded)
	t.Run("called", s.testCalled)
	t.Run("killed", s.testKilledBeforeCall)
	t.Run("guarded", s.testGuarded)
	t.Run("unreachable", s.testUnreachable)
}

// notes are what the last runs in a folder said.
func notes(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "notes")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const untouched = "so its webhooks stay as they are; --webhook-address names"

// testUntouched: that an API server is on loopback does not make it one of slipway's own, and a run changes nothing.
func (s *sea) testUntouched(t *testing.T) {
	before := s.asks(t)
	dir := s.project(t)
	changed := false
	s.hit = func(int64, bool) { changed = true }
	if err := s.run(t, dir, "STATE="+t.TempDir()).Run(); err != nil {
		t.Fatal(err)
	}
	if said := notes(t, dir); changed || strings.Count(said, "\n") != 1 || !strings.Contains(said, untouched) {
		t.Errorf("the run changed something: %t, and said %s", changed, said)
	}
	if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
		t.Errorf("afterwards (-before +after):\n%s", diff)
	}
}

// testForwarded: behind a forwarded port, as `ssh -L` has one, an own cluster is an own one, and another one is not.
func (s *sea) testForwarded(t *testing.T) {
	before := s.asks(t)
	s.hit = func(int64, bool) {}
	dir := s.project(t)
	config, err := clientcmd.LoadFromFile(s.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + forward(t, strings.TrimPrefix(cluster.Server, "https://"))
	}
	if err := clientcmd.WriteToFile(*config, filepath.Join(dir, "kubeconfig")); err != nil {
		t.Fatal(err)
	}
	if err := s.run(t, dir).Run(); err != nil {
		t.Fatal(err)
	}
	if said := notes(t, dir); !strings.Contains(said, "the cluster calls the webhooks of this manager at 127.0.0.1:") {
		t.Errorf("an own cluster: the run said %s", said)
	}
	if err := s.run(t, dir, "STATE="+t.TempDir()).Run(); err != nil {
		t.Fatal(err)
	}
	if said := notes(t, dir); !strings.Contains(said, untouched) {
		t.Errorf("another one: the run said %s", said)
	}
	if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
		t.Errorf("afterwards (-before +after):\n%s", diff)
	}
}

// forward passes on connections to an address until the test ends.
func forward(t *testing.T, to string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go func() { _, _ = io.Copy(out, in); out.Close() }()
			go func() { _, _ = io.Copy(in, out); in.Close() }()
		}
	}()
	return l.Addr().String()
}

// policies are the policies of the run's webhook for frigates; none while it is not there.
func (s *sea) policies(t *testing.T) string {
	live, err := s.objects.Resource(configurationResource).Get(t.Context(), "op-run-validating-webhook-configuration", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "none"
	}
	if err != nil {
		t.Error(err)
		return ""
	}
	hooks, _, _ := unstructured.NestedSlice(live.Object, "webhooks")
	policy, _, _ := unstructured.NestedString(hooks[0].(map[string]any), "failurePolicy")
	return policy
}

// create is the error with which another user's frigate is refused, which is not stored.
func (s *sea) create(t *testing.T) error {
	frigate := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "theirs"}}}
	frigate.SetGroupVersionKind(schema.GroupVersionKind{Group: "ship.example.com", Version: "v1", Kind: "Frigate"})
	_, err := s.objects.Resource(schema.GroupVersionResource{Group: "ship.example.com", Version: "v1", Resource: "frigates"}).Namespace("default").
		Create(t.Context(), frigate, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// testCalled: with an address failures count only once the API server has called it and the manager serves; until then
// conversion is as before, too.
func (s *sea) testCalled(t *testing.T) {
	before := s.asks(t)
	dir, state := s.project(t), t.TempDir()
	cmd := s.run(t, dir, "STATE="+state, "WEBHOOK_ADDRESS=localhost", "STAY=1")
	var seen []string
	s.hit = func(_ int64, early bool) {
		if policy := s.policies(t); !early && (len(seen) == 0 || seen[len(seen)-1] != policy) {
			seen = append(seen, policy)
		}
		if conversion := s.asks(t)["conversion"]; early && !slices.Contains(seen, "Fail") {
			if diff := gocmp.Diff(before["conversion"], conversion); diff != "" {
				t.Errorf("the conversion before the call (-before +after):\n%s", diff)
			}
		}
	}
	r, w := output(t)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	untilRunning(t, r)
	if diff := gocmp.Diff([]string{"Ignore", "Fail"}, seen); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	url, _, _ := unstructured.NestedString(s.asks(t)["conversion"].(map[string]any), "webhook", "clientConfig", "url")
	if !strings.HasPrefix(url, "https://localhost:") {
		t.Errorf("converted at %q", url)
	}
	if n := s.asks(t)["configurations"]; n != before["configurations"].(int)+1 {
		t.Errorf("there are %v configurations: the probe is left", n)
	}
	if err := s.create(t); err == nil {
		t.Error("a manager without a webhook is not called")
	}
	if said := notes(t, dir); !strings.Contains(said, "the cluster calls the webhooks of this manager at localhost:") {
		t.Errorf("the run said %s", said)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := TakeBack(t.Context(), state, s.direct, report.Discard); err != nil {
		t.Error(err)
	}
	if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
		t.Errorf("afterwards (-before +after):\n%s", diff)
	}
}

// testKilledBeforeCall: a run that is killed before the API server has called leaves nothing that fails a write, and
// the next command restores the webhooks.
func (s *sea) testKilledBeforeCall(t *testing.T) {
	before := s.asks(t)
	for step := range int64(3) { // the configuration, the probe's, and its first request
		dir, state := s.project(t), t.TempDir()
		cmd := s.run(t, dir, "STATE="+state, "WEBHOOK_ADDRESS=127.0.0.1:1")
		gone := make(chan struct{})
		s.hit = func(n int64, early bool) {
			if n == step+1 && !early {
				_ = cmd.Process.Kill()
				<-gone
			}
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the run has not been killed")
		}
		close(gone)
		if policy := s.policies(t); policy != "Ignore" {
			t.Errorf("killed at change %d: the policy is %s", step+1, policy)
		}
		if err := s.create(t); err != nil {
			t.Errorf("killed at change %d: another user's write fails: %v", step+1, err)
		}
		if err := TakeBack(t.Context(), state, s.direct, report.Discard); err != nil {
			t.Error(err)
		}
		if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
			t.Errorf("killed at change %d (-before +after):\n%s", step+1, diff)
		}
	}
}

// testGuarded: when a run is killed while failures count, its guard restores the webhooks without any further command.
// The guard of a run that ends by itself ends with it.
func (s *sea) testGuarded(t *testing.T) {
	before := s.asks(t)
	s.hit = func(int64, bool) {}
	dir, state := s.project(t), t.TempDir()
	cmd := s.run(t, dir, "STATE="+state, "WEBHOOK_ADDRESS=localhost", "STAY=1", "GUARDED=1")
	r, w := output(t)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	untilRunning(t, r)
	if policy := s.policies(t); policy != "Fail" {
		t.Errorf("the policy is %s", policy)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for Promised(state) {
		_, _ = s.objects.Resource(configurationResource).List(t.Context(), metav1.ListOptions{})
	}
	if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
		t.Errorf("afterwards (-before +after):\n%s", diff)
	}
	if err := s.create(t); err != nil {
		t.Errorf("another user's write: %v", err)
	}
	if err := s.run(t, dir, "STATE="+state, "WEBHOOK_ADDRESS=localhost", "GUARDED=1").Run(); err != nil || Promised(state) {
		t.Errorf("a run that ends: %v, a promise is left: %t", err, Promised(state))
	}
}

// testUnreachable: an address that the API server does not reach fails no write, which the run says, and the next
// command restores the webhooks.
func (s *sea) testUnreachable(t *testing.T) {
	before := s.asks(t)
	dir, state := s.project(t), t.TempDir()
	s.hit = func(_ int64, early bool) {
		if policy := s.policies(t); !early && policy == "Fail" {
			t.Error("failures count without a call")
		}
	}
	cmd := s.run(t, dir, "STATE="+state, "WEBHOOK_ADDRESS=127.0.0.1:1", "STAY=1")
	r, w := output(t)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	untilRunning(t, r)
	if err := s.create(t); s.policies(t) != "Ignore" || err != nil {
		t.Errorf("the policy is %s, and a write gets %v", s.policies(t), err)
	}
	if said := notes(t, dir); !strings.Contains(said, "warning: the API server does not reach https://127.0.0.1:1, so it ignores webhooks that fail") {
		t.Errorf("the run said %s", said)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := TakeBack(t.Context(), state, s.direct, report.Discard); err != nil {
		t.Error(err)
	}
	if diff := gocmp.Diff(before, s.asks(t)); diff != "" {
		t.Errorf("afterwards (-before +after):\n%s", diff)
	}
}

package seed_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/seed"
	"github.com/slipway-dev/slipway/cluster/version"
)

// A stale seed would give a new version the roles of an old one.
func TestEmbeddedSeedIsOfThisVersion(t *testing.T) {
	s := load(t)
	if s.Kubernetes != version.Kubernetes {
		t.Errorf("the seed is of Kubernetes %s, the program embeds %s: run `go generate ./seed`", s.Kubernetes, version.Kubernetes)
	}
}

func TestEmbeddedSeedIsComplete(t *testing.T) {
	keys := map[string]bool{}
	for _, p := range load(t).Pairs {
		keys[string(p.Key)] = true
	}
	for _, want := range []string{
		"/namespaces/default", "/namespaces/kube-system", "/namespaces/kube-public", "/namespaces/kube-node-lease",
		"/clusterroles/cluster-admin", "/clusterroles/system:controller:job-controller", "/clusterrolebindings/cluster-admin",
		"/roles/kube-system/system::leader-locking-kube-scheduler", "/priorityclasses/system-node-critical",
		"/flowschemas/catch-all", "/services/specs/default/kubernetes", "/apiregistration.k8s.io/apiservices/v1.apps",
		"/apiregistration.k8s.io/apiservices/v1beta1.metrics.k8s.io", "/clusterroles/system:aggregated-metrics-reader",
	} {
		if !keys[want] {
			t.Errorf("no %s", want)
		}
	}
}

func TestEmbeddedSeedHoldsNothingOfOneCluster(t *testing.T) {
	for _, p := range load(t).Pairs {
		for _, secret := range []string{"CERTIFICATE", "PRIVATE KEY"} {
			if bytes.Contains(p.Value, []byte(secret)) {
				t.Errorf("%s holds a %s", p.Key, secret)
			}
		}
		for _, prefix := range []string{"/secrets/", "/configmaps/", "/leases/", "/endpoints/", "/masterleases/", "/events/"} {
			if strings.HasPrefix(string(p.Key), prefix) {
				t.Errorf("%s is in the seed", p.Key)
			}
		}
	}
}

func load(t *testing.T) seed.Seed {
	t.Helper()
	s, err := seed.Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// record is a fresh cluster's store as it could be at the given time.
func record(at time.Time, uid string) []etcd.Pair {
	json := `{"metadata":{"uid":"` + uid + `","creationTimestamp":"` + at.UTC().Format(time.RFC3339) + `"}}`
	return []etcd.Pair{
		{Key: []byte("/registry/configmaps/kube-system/authentication"), Value: []byte("CERTIFICATE")},
		{Key: []byte("/registry/namespaces/default"), Value: []byte(json)},
		{Key: []byte("/registry/namespaces/kube-system"), Value: []byte(json)},
	}
}

const (
	oneUID     = "01234567-89ab-4def-8123-456789abcdef"
	anotherUID = "fedcba98-89ab-4def-8123-456789abcdef"
)

func TestNormalizeForgetsTheRun(t *testing.T) {
	now := time.Now()
	one := seed.Normalize("1.0.0", record(now, oneUID), "/registry", now.Add(-time.Second))
	another := seed.Normalize("1.0.0", record(now.Add(2*time.Second), anotherUID), "/registry", now)
	var a, b bytes.Buffer
	if err := errors.Join(seed.Encode(&a, one), seed.Encode(&b, another)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("two runs give two seeds:\n%s\n%s", one.Pairs, another.Pairs)
	}
	if len(one.Pairs) != 2 {
		t.Errorf("%d pairs", len(one.Pairs))
	}
}

// memory is a store that keeps what it gets.
type memory struct{ pairs []etcd.Pair }

func (m *memory) Write(_ context.Context, pairs []etcd.Pair) error {
	m.pairs = append(m.pairs, pairs...)
	return nil
}

func TestWriteGivesEachClusterItsOwnUIDsAndTimes(t *testing.T) {
	s := load(t)
	var one, another memory
	if err := errors.Join(s.Write(t.Context(), &one, "/a"), s.Write(t.Context(), &another, "/a")); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(one.pairs, func(p etcd.Pair) bool { return string(p.Key) == "/a/namespaces/kube-system" })
	if at < 0 {
		t.Fatal("no kube-system")
	}
	if bytes.Equal(one.pairs[at].Value, another.pairs[at].Value) {
		t.Error("two clusters have the same kube-system")
	}
	for _, p := range one.pairs {
		if bytes.Contains(p.Value, []byte("5eed5eed")) {
			t.Errorf("%s holds a placeholder", p.Key)
		}
	}
}

func TestDecodeReadsWhatEncodeWrote(t *testing.T) {
	s := load(t)
	var b bytes.Buffer
	if err := seed.Encode(&b, s); err != nil {
		t.Fatal(err)
	}
	again, err := seed.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	equal := func(a, b etcd.Pair) bool { return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value) }
	if again.Kubernetes != s.Kubernetes || !slices.EqualFunc(again.Pairs, s.Pairs, equal) {
		t.Error("the seed has changed")
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	var whole bytes.Buffer
	pair := etcd.Pair{Key: []byte("/namespaces/a"), Value: []byte("value")}
	if err := seed.Encode(&whole, seed.Seed{Kubernetes: "1.0.0", Pairs: []etcd.Pair{pair}}); err != nil {
		t.Fatal(err)
	}
	for n := range whole.Len() {
		if _, err := seed.Decode(bytes.NewReader(whole.Bytes()[:n])); err == nil {
			t.Errorf("%d of %d bytes are enough", n, whole.Len())
		} else if n > 12 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

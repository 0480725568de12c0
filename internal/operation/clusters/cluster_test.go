package clusters

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/operation/operationtest"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestTellsOfClusters: the texts for people say what the values for programs hold.
func TestTellsOfClusters(t *testing.T) {
	running := &clusterctl.Status{
		Name: "a", State: clusterctl.Running, Server: "https://127.0.0.1:6443", Kubernetes: "v1.37.1", Registry: "localhost:5001", Context: "slipway-a",
		PID: 7, UptimeMs: 61_000, Nodes: &clusterctl.Nodes{Simulated: 1, Real: 2},
	}
	elsewhere := *running
	elsewhere.Registry, elsewhere.Context, elsewhere.Kubeconfig, elsewhere.Already = "localhost:5002", "", "/a/kubeconfig", true
	balanced := *running
	balanced.MoreAddresses, balanced.Addresses = 3, []clusterctl.Address{
		{Kind: "Service", Namespace: "shop", Name: "dns", Protocol: "UDP", Port: 53, At: "127.81.17.3:8053", Problem: "no ready endpoints"},
		{Kind: "Service", Namespace: "shop", Name: "web", Protocol: "TCP", Port: 8080, At: "127.81.17.2:8080"},
	}
	full, more := *running, *running
	full.Storage, more.Storage = &clusterctl.Storage{Registry: 3 << 20}, &clusterctl.Storage{NodeImages: 1 << 20, Volumes: 1 << 19, Incomplete: true}
	noted := *running
	noted.Record = &clusterctl.Record{Bytes: 3 << 20, Limit: 256 << 20, Missed: 2, Problem: "the disk\x1b[31m is full"}
	fresh, durable := clusterctl.Reset{Name: "a"}, clusterctl.Reset{Name: "a", Durable: true}
	fresh.Removed, fresh.Restored, durable.Kept = 1, 2, true
	for _, test := range []struct {
		name, got string
		want      []string
	}{
		{"started", started(running, 1500*time.Millisecond), []string{"cluster a is ready after 1.5s", "localhost:5001", "context slipway-a is selected"}},
		{"already", started(&elsewhere, time.Second), []string{"runs already", "port 5001 belongs to another program", "kubeconfig: /a/kubeconfig"}},
		{"status", described(running), []string{"cluster a is running, up 1m1s", "https://127.0.0.1:6443", "deleted when it stops"}},
		{"addresses", described(&balanced), []string{
			"service shop/dns  127.81.17.3:8053/UDP, for port 53, does not answer: no ready endpoints\n", "service shop/web  127.81.17.2:8080\n", "3 addresses more",
		}},
		{"storage", described(&full), []string{"storage     registry 3.0 MiB\n"}},
		{"more storage", described(&more), []string{"registry 0.0 MiB, images on nodes 1.0 MiB, volumes 0.5 MiB; at least, since not all files could be counted\n"}},
		{"record", described(&noted), []string{"record      3.0 of 256 MiB; 2 entries are missing; the disk"}},
		{"list", table([]*clusterctl.Status{running, {Name: "b", State: clusterctl.Stopped, Durable: true}}), []string{"1 simulated, 2 real", "kept", "thrown away"}},
		{"no clusters", table(nil), []string{"slipway cluster start"}},
		{"reset", wasReset(&fresh), []string{"when it became ready: 1 object removed, 2 restored"}},
		{"reset to what was kept", wasReset(&durable), []string{"when it was kept: 0 objects removed", "on disk are those of that time"}},
		{"joined", DescribeJoin(clusterctl.Joined{Cluster: "a", Node: "real-1"}), []string{"node real-1 has joined cluster a"}},
		{"not needed", DescribeJoin(clusterctl.Joined{Cluster: "a", Already: true}), []string{"cluster a was started with real nodes"}},
		{"not joined", DescribeJoin(clusterctl.Joined{Problem: "no namespaces"}), []string{"stay simulated: no namespaces"}},
		{"a component's entry", logLine(clusterctl.LogEntry{Time: "T", Level: "I", Component: "etcd", Message: "ready"}, true), []string{"T I etcd        ready"}},
		{"an entry", logLine(clusterctl.LogEntry{Time: "T", Level: "I", Component: "etcd", Message: "ready"}, false), []string{"T I ready"}},
	} {
		for _, want := range test.want {
			if !strings.Contains(test.got, want) {
				t.Errorf("%s: no %q in\n%s", test.name, want, test.got)
			}
		}
	}
}

// TestStatusTellsOfEgress: for each kind of nodes whose pods run, where those reach.
func TestStatusTellsOfEgress(t *testing.T) {
	for want, nodes := range map[string]*clusterctl.Nodes{
		"egress   on: pods of isolated nodes reach the network, but not this machine": {Real: 1, Egress: true},
		"egress   off: pods of isolated nodes reach only the cluster":                 {Simulated: 1, Joins: true},
		"egress   pods of plain nodes use this machine's network":                     {Real: 1, Plain: true},
		"": {Simulated: 2},
	} {
		s := &clusterctl.Status{Name: "a", State: clusterctl.Running, Nodes: nodes}
		if got := described(s); !strings.Contains(got, want) || strings.Contains(got, "egress") != (want != "") {
			t.Errorf("%+v: no %q in\n%s", nodes, want, got)
		}
	}
}

// TestClusterNames: completion reads names without starting a program.
func TestClusterNames(t *testing.T) {
	s, told := operationtest.Begin(t, t.TempDir())
	if names := Names(s); len(names) > 0 {
		t.Errorf("there are clusters: %q", names)
	}
	if len(told.All) > 0 {
		t.Errorf("it told %v", told.All)
	}
}

// TestClusterOptions: a description comes from flags, from standard input or from both; mistakes name their place.
func TestClusterOptions(t *testing.T) {
	const description = "port: 6443\ndurable: true\n"
	for _, test := range []struct {
		name  string
		given Cluster
		port  int
		whole bool   // there is a file
		where string // of the mistake; empty for none
	}{
		{"nothing", Cluster{Timeout: time.Minute}, 0, false, ""},
		{"flags", Cluster{Timeout: time.Minute, Flags: clusterspec.Flags{"port": {"7443"}}}, 7443, false, ""},
		{"standard input", Cluster{Timeout: time.Minute, File: "-"}, 6443, true, ""},
		{"both", Cluster{Timeout: time.Minute, File: "-", Flags: clusterspec.Flags{"port": {"7443"}}}, 7443, true, ""},
		{"no time at all", Cluster{}, 0, false, "--timeout"},
		{"no such nodes", Cluster{Timeout: time.Minute, Flags: clusterspec.Flags{"nodes": {"imaginary"}}}, 0, false, "--nodes"},
	} {
		o, _, err := test.given.options(strings.NewReader(description))
		switch {
		case test.where != "":
			if told := operationtest.Mistake(t, err); told.Where != test.where || told.ExitCode() != report.UsageCode {
				t.Errorf("%s: %v, want a mistake in %s", test.name, told, test.where)
			}
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		case o.Port != test.port || o.Whole != test.whole || o.Durable != test.whole:
			t.Errorf("%s: %+v", test.name, o)
		}
	}
}

func TestNoSuchNodes(t *testing.T) {
	s, _ := operationtest.Begin(t, t.TempDir())
	if err := operationtest.Mistake(t, operationtest.Err(BuildProgram(t.Context(), s, "imaginary"))); err.Where != "--nodes imaginary" || err.ExitCode() != report.UsageCode {
		t.Error(err)
	}
}

func TestWriteKubeconfig(t *testing.T) {
	s, told := operationtest.Begin(t, t.TempDir())
	file := filepath.Join(s.Dir, "kubeconfig")
	if _, err := writeKubeconfig(s, file, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	if got := operationtest.Last(t, told).Value.(Kubeconfig); got.Path != file || got.Text != "" {
		t.Errorf("the result is %+v", got)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "secret" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if err := operationtest.Mistake(t, operationtest.Err(writeKubeconfig(s, filepath.Join(s.Dir, "missing", "kubeconfig"), nil))); err.Where == "" || err.Hint == "" {
		t.Errorf("%+v", err)
	}
}

// TestReadableByOthers: a pipe is not a file, and only the permissions of a file matter.
func TestReadableByOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are those of Unix")
	}
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o640: true, 0o604: true, 0o660: true} {
		file, err := os.OpenFile(filepath.Join(t.TempDir(), "out"), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := file.Chmod(mode); err != nil {
			t.Fatal(err)
		}
		if _, is := readableByOthers(file); is != want {
			t.Errorf("%v: readable by others is %v", mode, is)
		}
	}
	_, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	for name, w := range map[string]io.Writer{"a pipe": pipe, "a buffer": &strings.Builder{}} {
		if _, is := readableByOthers(w); is {
			t.Errorf("%s is readable by others", name)
		}
	}
}

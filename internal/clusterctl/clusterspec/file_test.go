package clusterspec_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/yamlsize"
)

const whole = `# a cluster
nodes:
- name: big
  labels: {disk: ssd, generation: 3, spot: true}
  taints: ["gpu=yes:NoSchedule", "old:PreferNoSchedule"]
  capacity:
    cpu: 16
    memory: 64Gi
    nvidia.com/gpu: "4"
- name: small
apiServer:
  flags:
  - --event-ttl=3h
  - v=2
featureGates: {MutatingAdmissionPolicy: true, Other: false}
runtimeConfig: {api/all: true, batch/v2alpha1: "false"}
port: 6443
nodeKind: real
durable: true
controllers: false
`

func TestWholeFile(t *testing.T) {
	got, err := clusterspec.Parse("f", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := protocol.Spec{
		Nodes: []protocol.Node{
			{Name: "big", Labels: map[string]string{"disk": "ssd", "generation": "3", "spot": "true"},
				Taints:   []string{"gpu=yes:NoSchedule", "old:PreferNoSchedule"},
				Capacity: map[string]string{"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "4"}},
			{Name: "small"},
		},
		APIServerFlags: []string{"--event-ttl=3h", "--v=2"},
		FeatureGates:   map[string]bool{"MutatingAdmissionPolicy": true, "Other": false},
		RuntimeConfig:  map[string]string{"api/all": "true", "batch/v2alpha1": "false"},
		Port:           6443, Durable: true, Controllers: new(false), NodeKind: protocol.RealNodes, IsolatedOnly: true,
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" || got.Left != nil {
		t.Error(diff, got.Left)
	}
}

func TestLittle(t *testing.T) {
	for text, want := range map[string]protocol.Spec{
		"":               {},
		"# nothing\n":    {},
		"{}":             {},
		"nodes: []":      {Nodes: []protocol.Node{}},
		"durable: false": {},
		"{simulatedPods: pending, simulatedJobs: complete}": {SimulatedPods: "pending", SimulatedJobs: "complete"},
		"nodeKind: simulated":                               {NodeKind: protocol.SimulatedNodes},
		"controllers: [gc, namespace]":                      {Controllers: new(true), ControllerNames: []string{"garbage-collector-controller", "namespace-controller"}},
		"controllers: '*,-job'":                             {Controllers: new(true), ControllerNames: []string{"*", "-job-controller"}},
		"controllers: gc":                                   {Controllers: new(true), ControllerNames: []string{"garbage-collector-controller"}},
		"controllers: true":                                 {Controllers: new(true)},
		"nodeKind: real\nsimulateMissingImages: false":      {NodeKind: protocol.RealNodes, IsolatedOnly: true, SimulateMissingImages: new(false)},
		"egress: false":                                     {Egress: new(false)},
		"nodes: [&n {name: a}, {name: b, labels: &l {x: y}}, {name: c, labels: *l}]": {Nodes: []protocol.Node{
			{Name: "a"}, {Name: "b", Labels: map[string]string{"x": "y"}}, {Name: "c", Labels: map[string]string{"x": "y"}}}},
	} {
		got, err := clusterspec.Parse("f", []byte(text))
		if diff := cmp.Diff(want, got.Spec); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, tc := range []struct{ text, where, what, hint string }{
		{"node: []", "f:1:1", "unknown key node", "did you mean nodes?"},
		{"featuregates: {}", "f:1:1", "unknown key featuregates", "did you mean featureGates?"},
		{"elephants: 3", "f:1:1", "unknown key elephants", "known are apiServer, controllers"},
		{"nodes:\n- name: a\n  lables: {}", "f:3:3", "unknown key nodes[0].lables", "did you mean labels?"},
		{"apiServer: {flag: []}", "f:1:13", "unknown key apiServer.flag", "did you mean flags?"},
		{"port: 6443\nport: 6444", "f:2:1", "port occurs twice", ""},
		{"port: 70000", "f:1:7", `port is "70000"`, "1 to 65535"},
		{"port: '80'", "f:1:7", `port is "80"`, "1 to 65535"},
		{"durable: maybe", "f:1:10", `durable is "maybe"`, "expected true or false"},
		{"durable:", "f:1:9", "durable is empty", "expected true or false"},
		{"nodes: 3", "f:1:8", `nodes is "3"`, "a list"},
		{"- a", "f:1:1", "the file is a list", "a mapping"},
		{"nodes: [a]", "f:1:9", `nodes[0] is "a"`, "a mapping"},
		{"nodes: [{}]", "f:1:9", "a node without a name", "like node-1"},
		{"nodes: [{name: A_b}]", "f:1:9", `invalid name of a node "A_b"`, "lower-case"},
		{"nodes: [{name: a}, {name: a}]", "f:1:20", "a second node named a", ""},
		{"nodes: [{name: a, taints: [x=y]}]", "f:1:28", `invalid taint "x=y"`, "gpu=yes:NoSchedule"},
		{"nodes: [{name: a, taints: ['x:NoShedule']}]", "f:1:28", `unknown effect of a taint "NoShedule"`, "did you mean NoSchedule?"},
		{"nodes: [{name: a, capacity: {mem: 1Gi}}]", "f:1:35", `unknown resource of a node "mem"`, "known are cpu"},
		{"nodes: [{name: a, capacity: {memroy: 1Gi}}]", "f:1:38", `unknown resource of a node "memroy"`, "did you mean memory;"},
		{"nodes: [{name: a, capacity: {cpu: lots}}]", "f:1:35", `invalid quantity "lots"`, "64Gi"},
		{"nodes: [{name: a, capacity: {cpu: -1}}]", "f:1:35", `invalid quantity "-1"`, "64Gi"},
		{"nodes: [{name: a, labels: {'': b}}]", "f:1:32", `invalid key of a label ""`, ""},
		{"nodes: [{name: a, labels: {b: [c]}}]", "f:1:31", "nodes[0].labels.b is a list", "a text"},
		{"nodes: [{name: a, labels: {b: 'c d'}}]", "f:1:31", `invalid value of a label "c d"`, ""},
		{"apiServer: {flags: ['--a b']}", "f:1:21", `invalid flag of the API server "--a b"`, "--name=value"},
		{"apiServer: {flags: [--secure-port=1]}", "f:1:21", "--secure-port of the API server cannot be set", "the key port"},
		{"apiServer: {flags: [bind-address=0.0.0.0]}", "f:1:21", "--bind-address of the API server", "127.0.0.1"},
		{"apiServer: {flags: [--authentication-token-webhook-config-file=x]}", "f:1:21", "is no flag of the API server that a cluster's configuration can set",
			"give it on the command line instead: --api-server-flag authentication-token-webhook-config-file=…"},
		{"apiServer: {flags: [v=2, allow_privileged=true]}", "f:1:26", "--allow-privileged is no flag", "--api-server-flag allow-privileged=…"},
		{"nodes: [{name: a}]\nnodeKind: plain", "f:2:11", "cannot ask for plain nodes", "give it on the command line instead: --nodes plain"},
		{"durable: &on true\negress: *on", "f:2:9", "access to the network", "give it on the command line instead: --egress"},
		{"hostPorts: [5432]", "f:1:12", "cannot give pods access to ports of this machine", "give it on the command line instead: --host-ports"},
		{"apiServer: {flags: [--etcd-servers=x]}", "f:1:21", "--etcd-servers of the API server", "etcd"},
		{"featureGates: {A: 'yes'}", "f:1:19", `featureGates.A is "yes"`, "true or false"},
		{"nodeKind: plane", "f:1:11", `nodeKind: unknown kind of nodes "plane"`, "did you mean plain?"},
		{"nodeKind: containers", "f:1:11", `nodeKind: unknown kind of nodes "containers"`, "known are plain, real, simulated"},
		{"simulatedPods: runningg", "f:1:16", `unknown phase of simulated pods "runningg"`, "did you mean running?"},
		{"simulatedJobs: [pending]", "f:1:16", "simulatedJobs is a list", ""},
		{"controllers: [gc, jop]", "f:1:14", `there is no controller "jop"`, "did you mean job?"},
		{"controllers: []", "f:1:14", "controllers is a list", "the names of controllers"},
		{"controllers: {}", "f:1:14", "controllers is a mapping", ""},
		{"controllers:", "f:1:13", "controllers is empty", ""},
		{"controllers: [[gc]]", "f:1:15", "controllers[0] is a list", ""},
		{"a: {", "f", "not valid YAML", ""},
		{"port: 1\n---\nport: 2", "f:2:1", "a second document", "one document"},
	} {
		_, err := clusterspec.Parse("f", []byte(tc.text))
		e, ok := errors.AsType[*report.Error](err)
		if !ok || e.Where != tc.where || !strings.Contains(e.What, tc.what) || !strings.Contains(e.Hint, tc.hint) || e.ExitCode() != report.UsageCode {
			t.Errorf("%q: %+v", tc.text, e)
		}
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.yaml")
	_, err := clusterspec.Read(path, nil)
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != path || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if err := os.WriteFile(path, []byte("port: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := clusterspec.Read(path, nil); err != nil || f.Spec.Port != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	if err := os.Truncate(path, 65<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := clusterspec.Read(path, nil); !errors.Is(err, safefs.ErrLarge) {
		t.Errorf("large: %v", err)
	}
}

func TestReadStdin(t *testing.T) {
	if f, err := clusterspec.Read("-", strings.NewReader("port: 1")); err != nil || f.Spec.Port != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	_, err := clusterspec.Read("-", iotest.ErrReader(errors.New("broken")))
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != "stdin" || !strings.Contains(e.What, "cannot be read") || e.ExitCode() != report.UsageCode {
		t.Errorf("%+v", e)
	}
}

// TestAliases: a file may save lines by aliases, and not stand for millions of values.
func TestAliases(t *testing.T) {
	few := "nodes: [{name: a, labels: &l {b: c}}, {name: b, labels: *l}]\n"
	if f, err := clusterspec.Parse("f", []byte(few)); err != nil || f.Spec.Nodes[1].Labels["b"] != "c" {
		t.Errorf("%+v, %v", f, err)
	}
	var many strings.Builder
	many.WriteString("nodes:\n- {name: a, taints: &t [" + strings.Repeat("x:NoSchedule, ", 500) + "]}\n")
	for i := range 500 {
		fmt.Fprintf(&many, "- {name: b%d, taints: *t}\n", i)
	}
	for _, text := range []string{many.String(), "nodes: &n [*n]\n"} {
		_, err := clusterspec.Parse("f", []byte(text))
		if e, ok := errors.AsType[*report.Error](err); !ok || !errors.Is(err, yamlsize.ErrGrowth) || e.Where != "f" || e.ExitCode() != report.UsageCode {
			t.Errorf("%.40q: %+v", text, err)
		}
	}
}

// TestDepth: a file that is nested too deep is refused with its line.
func TestDepth(t *testing.T) {
	_, err := clusterspec.Parse("f", []byte("nodes:\n- "+strings.Repeat("{a: ", yamlsize.Deepest)+strings.Repeat("}", yamlsize.Deepest)))
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != "f:2" || e.ExitCode() != report.UsageCode || !strings.Contains(e.What, "500 levels") {
		t.Errorf("%+v", err)
	}
}

func TestNodeFlag(t *testing.T) {
	got, err := clusterspec.ParseNode("big,cpu=16,label=disk=ssd,label=empty=,taint=gpu=yes:NoSchedule,taint=old:NoExecute,example.com/gpu=2")
	want := protocol.Node{Name: "big", Labels: map[string]string{"disk": "ssd", "empty": ""},
		Taints: []string{"gpu=yes:NoSchedule", "old:NoExecute"}, Capacity: map[string]string{"cpu": "16", "example.com/gpu": "2"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if text := clusterspec.FormatNode(got); text != "big,cpu=16,example.com/gpu=2,label=disk=ssd,label=empty=,taint=gpu=yes:NoSchedule,taint=old:NoExecute" {
		t.Errorf("formatted: %s", text)
	}
	for _, text := range []string{"", "a,b", "a,size=3", "a,label==x", "a,taint=x", "Big", "a,cpu=much"} {
		if _, err := clusterspec.ParseNode(text); err == nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOtherFlags(t *testing.T) {
	for text, want := range map[string]string{"v=2": "--v=2", "--v=2": "--v=2", "--profiling": "--profiling=true", "": "", "-v": "", "--a b=c": "", "=x": ""} {
		got, err := clusterspec.ParseFlag(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("flag %q: %q, %v", text, got, err)
		}
	}
	for text, ok := range map[string]bool{"A=true": true, "A=false": true, "A": false, "A=x": false, "=true": false} {
		if s, err := (clusterspec.Flags{"feature-gate": {text}}).Spec("slipway cluster start"); (err == nil) != ok || s.FeatureGates["A"] != (text == "A=true") {
			t.Errorf("gate %q: %v, %v", text, s.FeatureGates, err)
		}
	}
	for text, want := range map[string]map[string]string{"api/all=true": {"api/all": "true"}, "batch/v2alpha1": {"batch/v2alpha1": "true"}, "x=": {"x": ""}, "=true": nil} {
		s, err := clusterspec.Flags{"runtime-config": {text}}.Spec("slipway cluster start")
		if diff := cmp.Diff(want, s.RuntimeConfig); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("runtime %q: %v\n%s", text, err, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("nodes: [{name: a, <<: {x: y}}]")
	f.Add(kindFile)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := clusterspec.Parse("f", []byte(text))
		if _, ok := errors.AsType[*report.Error](err); err != nil && !ok {
			t.Errorf("not an error for users: %v", err)
		}
	})
}

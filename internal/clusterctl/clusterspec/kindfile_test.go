package clusterspec_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

const kindFile = `kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
name: staging
featureGates: {MutatingAdmissionPolicy: true}
runtimeConfig: {api/beta: "true"}
networking:
  apiServerPort: 6443
  apiServerAddress: 127.0.0.1
  disableDefaultCNI: true
kubeadmConfigPatches:
- |
  kind: ClusterConfiguration
  apiServer:
    extraArgs:
      audit-log-path: /tmp/audit.log
      authentication-token-webhook-config-file: hook.yaml
      max-requests-inflight: "800"
nodes:
- role: control-plane
  image: kindest/node:v1.34.0
  kubeadmConfigPatches:
  - |
    kind: InitConfiguration
    nodeRegistration:
      kubeletExtraArgs:
      - name: node-labels
        value: ingress-ready=true
      - name: v
        value: "4"
  extraPortMappings:
  - {containerPort: 80, hostPort: 8080, protocol: TCP}
  - {containerPort: 30001, hostPort: 30001, listenAddress: 0.0.0.0}
  - {containerPort: 30002, hostPort: 30002, listenAddress: 127.0.0.1}
- role: worker
  labels: {tier: front}
  extraMounts:
  - {hostPath: /tmp, containerPath: /data}
- role: worker
  kubeadmConfigPatches:
  - |
    kind: JoinConfiguration
    nodeRegistration:
      taints:
      - {key: gpu, value: "yes", effect: NoSchedule}
      - {key: old, effect: NoExecute}
`

// TestKindFile: what a configuration of kind says is taken over, and each part that has no effect is reported.
func TestKindFile(t *testing.T) {
	got, err := clusterspec.Parse("f", []byte(kindFile))
	if err != nil {
		t.Fatal(err)
	}
	const role = "node-role.kubernetes.io/control-plane"
	want := protocol.Spec{
		NodeKind: protocol.RealNodes, IsolatedOnly: true,
		Nodes: []protocol.Node{
			{Name: "control-plane", Labels: map[string]string{role: "", "ingress-ready": "true"}, Taints: []string{role + ":NoSchedule"}},
			{Name: "worker", Labels: map[string]string{"tier": "front"}},
			{Name: "worker2", Taints: []string{"gpu=yes:NoSchedule", "old:NoExecute"}},
		},
		FeatureGates: map[string]bool{"MutatingAdmissionPolicy": true}, RuntimeConfig: map[string]string{"api/beta": "true"},
		Port: 6443, APIServerFlags: []string{"--max-requests-inflight=800"},
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Error(diff)
	}
	var left []string
	for _, f := range got.Left {
		if f.Fatal || f.Line == 0 || f.File != "f" {
			t.Errorf("%+v", f)
		}
		left = append(left, strings.TrimSuffix(f.Message, " has no effect"))
		if name, ok := strings.CutPrefix(f.Message, "kubeadmConfigPatches[0]: the API server's flag "); ok {
			if want := "--api-server-flag " + strings.TrimSuffix(name, " has no effect") + "=…"; !strings.HasSuffix(f.Suggestion, want) {
				t.Errorf("%s: %q does not name %s", f.Message, f.Suggestion, want)
			}
		}
	}
	wantLeft := []string{"name", "networking.disableDefaultCNI", "kubeadmConfigPatches[0]: the API server's flag audit-log-path",
		"kubeadmConfigPatches[0]: the API server's flag authentication-token-webhook-config-file",
		"nodes[0].image", "nodes[0].kubeadmConfigPatches[0]: the kubelet's flag v",
		"nodes[0].extraPortMappings[0]", "nodes[0].extraPortMappings[1].listenAddress", "nodes[1].extraMounts"}
	if diff := cmp.Diff(wantLeft, left); diff != "" {
		t.Error(diff)
	}
}

func TestKindFileMistakes(t *testing.T) {
	const head = "apiVersion: kind.x-k8s.io/v1alpha4\n"
	for text, want := range map[string]string{
		"nodez: []":                          "unknown key nodez",
		"nodes: [{role: master}]":            `unknown role of a node "master"`,
		"nodes: [{labels: {'': x}}]":         "invalid key of a label",
		"networking: {apiServerPort: 99999}": `networking.apiServerPort is "99999"`,
		"kubeadmConfigPatches: ['{']":        "kubeadmConfigPatches[0] is not valid YAML",
		"nodes: [{kubeadmConfigPatches: ['nodeRegistration: {taints: [{key: a, effect: Never}]}']}]": `unknown effect of a taint "Never"`,
	} {
		_, err := clusterspec.Parse("f", []byte(head+text))
		if e, ok := errors.AsType[*report.Error](err); !ok || !strings.Contains(e.What, want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if d, err := clusterspec.Parse("f", []byte(head)); err != nil || d.Spec.Nodes != nil || d.Spec.NodeKind != "" {
		t.Errorf("one without nodes: %+v, %v", d, err)
	}
}

// TestOldKindFile: a file of the first versions of kind is read as one of today.
func TestOldKindFile(t *testing.T) {
	text := "kind: Cluster\napiVersion: kind.sigs.k8s.io/v1alpha3\nnodes:\n- role: control-plane\n- role: worker\n- role: worker\nkubeadmConfigPatchesJson6902: []\n"
	got, err := clusterspec.Parse("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Spec.Nodes) != 3 || got.Spec.Nodes[2].Name != "worker2" || got.Spec.NodeKind != protocol.RealNodes {
		t.Errorf("nodes %+v of kind %q", got.Spec.Nodes, got.Spec.NodeKind)
	}
	if len(got.Left) != 1 {
		t.Errorf("without effect: %v", got.Left)
	}
}

// TestKindTaints: as in kubeadm, a list of taints replaces the one that control planes have, also an empty list.
func TestKindTaints(t *testing.T) {
	const usual = "node-role.kubernetes.io/control-plane:NoSchedule"
	for registration, want := range map[string][]string{
		"":                                      {usual},
		"taints:":                               {usual},
		"taints: []":                            nil,
		"taints: [{key: a, effect: NoExecute}]": {"a:NoExecute"},
		"taints: [{key: a, effect: NoExecute}]}\n---\nnodeRegistration: {taints: [{key: b, effect: NoSchedule}]": {"b:NoSchedule"},
	} {
		text := "apiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: worker\n- role: control-plane\n  kubeadmConfigPatches:\n  - " +
			strconv.Quote("kind: InitConfiguration\nnodeRegistration: {"+registration+"}") + "\n"
		got, err := clusterspec.Parse("f", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", registration, err)
		}
		if diff := cmp.Diff(want, got.Spec.Nodes[1].Taints); diff != "" || len(got.Left) > 0 {
			t.Errorf("%s: %s, left %v", registration, diff, got.Left)
		}
	}
}

// TestKindPatchesOfAllNodes: what patches of all nodes say of nodes is not taken over, and reported.
func TestKindPatchesOfAllNodes(t *testing.T) {
	got, err := clusterspec.Parse("f", []byte("apiVersion: kind.x-k8s.io/v1alpha4\nkubeadmConfigPatches:\n"+
		"- 'nodeRegistration: {taints: []}'\n- 'nodeRegistration: {kubeletExtraArgs: {node-labels: a=b}}'\n- 'nodeRegistration: {}'\n"))
	if err != nil || len(got.Left) != 2 {
		t.Errorf("%v, %v", got.Left, err)
	}
}

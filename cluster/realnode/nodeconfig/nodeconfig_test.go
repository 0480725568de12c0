package nodeconfig_test

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// TestReadReadsWhatWriteWrote: nothing of a configuration is lost on its way, of which each field is set here.
func TestReadReadsWhatWriteWrote(t *testing.T) {
	c := nodeconfig.Config{
		Name: "real-1", Number: 3, IDs: true, Limits: true,
		Address: netip.MustParseAddr("10.127.0.3"), Pods: netip.MustParsePrefix("10.128.3.0/24"), Services: netip.MustParsePrefix("10.0.0.0/16"),
		Machine: netip.MustParseAddr("10.127.255.254"), DNS: netip.MustParseAddr("10.0.0.10"), Domain: "cluster.local",
		Server: "127.0.0.1:6443", Authority: []byte("ca"), Identity: nodeconfig.Pair{Certificate: []byte("a"), Key: []byte("b")},
		Serving: nodeconfig.Pair{Certificate: []byte("c"), Key: []byte("d")}, Registry: "127.0.0.1:5000", Mirrors: map[string]string{"quay.io": "localhost:5000/quay"},
		Labels: map[string]string{"a": "b"}, Taints: []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}},
		Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}, Kubernetes: "v1.0.0", Verbosity: 4,
		Plain: &nodeconfig.Plain{Dir: "/d", Container: "/c", Port: 7},
	}
	for i, v := 0, reflect.ValueOf(c); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set here", v.Type().Field(i).Name)
		}
	}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, _, err := nodeconfig.Accept(&b)
	if err != nil {
		t.Fatal(err)
	}
	cpu := got.Capacity[corev1.ResourceCPU]
	if cpu.Cmp(c.Capacity[corev1.ResourceCPU]) != 0 {
		t.Errorf("capacity %v", got.Capacity)
	}
	got.Capacity = c.Capacity // two that are equal may be kept differently
	if !reflect.DeepEqual(got, c) {
		t.Errorf("%+v, want %+v", got, c)
	}
}

func TestBrokenOff(t *testing.T) {
	for _, text := range []string{"", "{", `{"Name":`, `{"Address":"x"}`, "[]"} {
		if _, _, err := nodeconfig.Accept(bytes.NewBufferString(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	r, w := io.Pipe()
	_ = r.Close()
	if err := (nodeconfig.Config{Name: "real-1"}).Write(w); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "real-1") {
		t.Errorf("a node that has ended: %v", err)
	}
}

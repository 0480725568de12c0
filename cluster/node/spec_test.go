package node_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/cluster/node"
)

func TestSpecIsTheProtocolsNode(t *testing.T) {
	const text = `{"name":"gpu-1","labels":{"zone":"a"},"taints":["dedicated=gpu:NoSchedule","lost:NoExecute"],"capacity":{"cpu":"8","example.com/gpu":"2"}}`
	var spec node.Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	want := node.Spec{
		Name: "gpu-1", Labels: map[string]string{"zone": "a"},
		Taints:   []node.Taint{{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}, {Key: "lost", Effect: corev1.TaintEffectNoExecute}},
		Capacity: corev1.ResourceList{"cpu": resource.MustParse("8"), "example.com/gpu": resource.MustParse("2")},
	}
	if d := cmp.Diff(want, spec); d != "" {
		t.Error(d)
	}
	if err := node.Validate([]node.Spec{spec}); err != nil {
		t.Error(err)
	}
	if data, err := json.Marshal(spec); err != nil || string(data) != text {
		t.Errorf("written as %s, %v", data, err)
	}
}

func TestDefaultIsValid(t *testing.T) {
	if err := node.Validate(node.Default()); err != nil {
		t.Error(err)
	}
}

func TestInvalidSpecs(t *testing.T) {
	for name, specs := range map[string][]node.Spec{
		"no name":            {{}},
		"name":               {{Name: "Node_1"}},
		"used twice":         {{Name: "a"}, {Name: "a"}},
		"label key":          {{Name: "a", Labels: map[string]string{"a b": ""}}},
		"label value":        {{Name: "a", Labels: map[string]string{"a": "b c"}}},
		"taint effect":       {{Name: "a", Taints: []node.Taint{{Key: "a", Effect: "Never"}}}},
		"taint key":          {{Name: "a", Taints: []node.Taint{{Key: "a b", Effect: corev1.TaintEffectNoSchedule}}}},
		"negative capacity":  {{Name: "a", Capacity: corev1.ResourceList{"cpu": resource.MustParse("-1")}}},
		"resource name":      {{Name: "a", Capacity: corev1.ResourceList{"a b": resource.MustParse("1")}}},
		"more pods than IPs": {{Name: "a", Capacity: corev1.ResourceList{"pods": resource.MustParse("5k")}}},
		"too many":           make([]node.Spec, 2049),
	} {
		if err := node.Validate(specs); !errors.Is(err, node.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTaintText(t *testing.T) {
	for _, text := range []string{"", "key", "=v:NoSchedule", "key=v", "key=v:Sometimes", "a b:NoSchedule"} {
		var taint node.Taint
		if err := taint.UnmarshalText([]byte(text)); !errors.Is(err, node.ErrInvalid) {
			t.Errorf("%q: %v, %v", text, taint, err)
		}
	}
}

func FuzzTaintText(f *testing.F) {
	for _, seed := range []string{"a=b:NoSchedule", "a:NoExecute", "example.com/a=:PreferNoSchedule", "a=b=c:NoSchedule", ":", "a:b:c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var taint, again node.Taint
		if err := taint.UnmarshalText([]byte(text)); err != nil {
			if !errors.Is(err, node.ErrInvalid) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		written, err := taint.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalText(written); err != nil || again != taint {
			t.Errorf("%q became %q, which reads as %v, %v", text, written, again, err)
		}
	})
}

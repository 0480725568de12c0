package reference_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/report"
)

const digest = "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestNames(t *testing.T) {
	for text, want := range map[string]struct{ tag, any bool }{
		"op":                               {true, true},
		"op:v1":                            {true, true},
		"team/op_x.y__z--w:V1":             {true, true},
		"localhost:5001/op":                {true, true},
		"LOCALHOST:5001/op":                {true, true},
		"[::1]:5001/op:v1":                 {true, true},
		"a-b.example.com/x/y/z:v1":         {true, true},
		"op:" + strings.Repeat("A", 128):   {true, true},
		"op" + digest:                      {false, true},
		"op:v1" + digest:                   {false, true},
		"op:" + strings.Repeat("A", 129):   {},
		"op@sha256:12":                     {},
		"Op:v1":                            {},
		"a/../b:v1":                        {},
		"a//b":                             {},
		"-x:1":                             {},
		"x-:1":                             {},
		"a..b":                             {},
		"a___b":                            {},
		"localhost:99999/op":               {},
		"localhost:/op":                    {},
		"-a.example.com/op":                {},
		"https://registry.example.com/op":  {},
		"öp":                               {},
		"":                                 {},
		"/op":                              {},
		"op/":                              {},
		"registry.example.com/":            {},
		"registry.example.com/op:v1\n":     {},
		"registry.example.com/op:$(VAR)":   {},
		"registry.example.com/op: v1":      {},
		"user:pass@registry.example.com/x": {},
	} {
		if _, err := reference.ParseTag(text); (err == nil) != want.tag {
			t.Errorf("%q with a tag: %v", text, err)
		}
		if _, err := reference.Parse(text); (err == nil) != want.any {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestCheck: names of images in pods are judged by the grammar.
func TestCheck(t *testing.T) {
	sum := "@sha256:" + strings.Repeat("0a", 32)
	for _, text := range []string{"c", "busybox:1", "library/busybox", "localhost/op", "localhost:5001/op:v1", "reg.example.com/c", "a/b/c__d:V_1.-" + sum, "op" + sum, "[::1]:5000/op"} {
		if err := reference.Check(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "Op", "op:", "op:@sha256:1", "op@", ":v1", "op:v1 ", " op", "op:v/1", "reg.example.com/", "reg.example.com/Op:v1", "${IMG}", "op:{{ .Tag }}", "https://reg.example.com/op", "op@sha256:1", "op:" + strings.Repeat("x", 129)} {
		if e, ok := errors.AsType[*report.Error](reference.Check(text)); !ok || e.Err == nil || !strings.Contains(e.What, "invalid image name") {
			t.Errorf("%q: %v", text, e)
		}
	}
}

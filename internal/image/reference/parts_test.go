package reference_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/image/reference"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][3]string{
		"op":                                {"op", "", ""},
		"op:v1":                             {"op", "v1", ""},
		"localhost:5001/op":                 {"localhost:5001/op", "", ""},
		"localhost:5001/op:v1":              {"localhost:5001/op", "v1", ""},
		"[::1]:5001/team/op:v1" + digest:    {"[::1]:5001/team/op", "v1", digest[1:]},
		"op" + digest:                       {"op", "", digest[1:]},
		"":                                  {},
		"controller:latest@":                {"controller", "latest", ""},
		"{{ .Values.image }}:{{ .Version}}": {"{{ .Values.image }}", "{{ .Version}}", ""},
	} {
		repository, tag, sum := reference.Split(text)
		if diff := cmp.Diff(want, [3]string{repository, tag, sum}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestRegistry(t *testing.T) {
	for text, want := range map[string]string{
		"op":                          "index.docker.io",
		"team/op:v1":                  "index.docker.io",
		"localhost:5001/op":           "localhost:5001",
		"registry.example.com/op:v1":  "registry.example.com",
		"no name":                     "",
		"registry.example.com/Op:v1":  "",
		"registry.example.com/op@sum": "",
	} {
		if got := reference.Registry(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOnLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"localhost": true, "LOCALHOST:5001": true, "127.0.0.1:5001": true, "127.1.2.3": true, "[::1]:5001": true, "[::1]": true, "::1": true,
		"": false, "192.0.2.1:5001": false, "localhost.example.com": false, "index.docker.io": false, "0.0.0.0:5001": false,
	} {
		if got := reference.OnLoopback(address); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
}

func TestKept(t *testing.T) {
	for text, want := range map[string]string{
		"op:v1":                 "index.docker.io/library/op",
		"LOCALHOST:5001/op":     "localhost_5001/op",
		"[::1]:5001/team/op:v1": "__1_5001/team/op",
	} {
		tag, err := reference.ParseTag(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := reference.Kept(tag); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

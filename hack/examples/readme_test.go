//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	readme := "# E\n\n## How\n\n```sh\nno\n```\n\n## Try it here\n\n```sh\na\n\nb\n```\n\nand, when it shows `Working`,\n\n```sh\n# comment\nc\nd # refused\n```\n\n### In a pod\n\n```sh\nno\n```\n"
	got, err := read(readme)
	if err != nil {
		t.Fatal(err)
	}
	want := script{[]string{"a", "b"}, []string{"c", "d # refused"}, "Working"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(script{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if refused(got.second[0]) || !refused(got.second[1]) {
		t.Error("the wrong command is refused")
	}
	for _, wrong := range []string{"", "\n## Try it\n\n```sh\na\n```\n", "\n## Try it\n## Then\n\n```sh\na\n```\n\n```sh\nb\n```\n", "\n## Try it\n\n```sh\na\n```\n\nand\n\n```sh\nb\n```\n"} {
		if _, err := read(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// TestAsItShould: only an answer of the API server is a refusal.
func TestAsItShould(t *testing.T) {
	const invalid = `The Guestbook "g" is invalid: spec.size: Invalid value: 11`
	for _, test := range []struct {
		line   string
		failed bool
		out    string
		want   bool
	}{
		{"a", false, "done", true},
		{"a", true, invalid, false},
		{"a # refused", true, invalid, true},
		{"a # refused", true, `Error from server (Forbidden): admission webhook "w" denied the request`, true},
		{"a # refused", false, "patched", false},
		{"a # refused", true, "The connection to the server 127.0.0.1:1 was refused", false},
		{"a # refused", true, `Error from server (NotFound): guestbooks "g" not found`, false},
		{"a # refused", true, `Error from server (InternalError): failed calling webhook "w": connection refused`, false},
	} {
		if got := asItShould(test.line, test.failed, test.out); got != test.want {
			t.Errorf("%s, which says %q: %v", test.line, test.out, got)
		}
	}
}

// TestIndex: every example is in the index, and the Makefile knows it.
func TestIndex(t *testing.T) {
	index, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, listed, _ := strings.Cut(string(makefile), "\nEXAMPLES := ")
	listed, _, _ = strings.Cut(listed, "\n")
	modules, err := filepath.Glob("../../examples/*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatal("no examples", err)
	}
	for _, module := range modules {
		name := filepath.Base(filepath.Dir(module))
		if !strings.Contains(string(index), "["+name+"]("+name+"/README.md)") {
			t.Errorf("examples/README.md does not lead to %s", name)
		}
		if !slices.Contains(strings.Fields(listed), "examples/"+name) {
			t.Errorf("EXAMPLES in the Makefile lacks examples/%s", name)
		}
	}
}

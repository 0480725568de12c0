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

func TestBlocks(t *testing.T) {
	readme := "# E\n\n## How\n\n```sh\nno\n```\n\n## Try it here\n\n```sh\na\n\nb\n```\n\nand\n\n```sh\n# comment\nc\nd # refused\n```\n\n### In a pod\n\n```sh\nno\n```\n"
	first, second, err := blocks(readme)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"c", "d # refused"}}, [][]string{first, second}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if refused(second[0]) || !refused(second[1]) {
		t.Error("the wrong command is refused")
	}
	for _, wrong := range []string{"", "\n## Try it\n\n```sh\na\n```\n", "\n## Try it\n## Then\n\n```sh\na\n```\n\n```sh\nb\n```\n"} {
		if _, _, err := blocks(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
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

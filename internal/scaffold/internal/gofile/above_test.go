package gofile_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// TestAbove: of two types in a file each has its own comments, in a group of types as well.
func TestAbove(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"first", "// of the file\npackage p\n\n// +a\n\n// Job is\n// +b\ntype Job struct{}\n\n// +c\ntype Other struct{}\n", "// +a\n// Job is\n// +b\n"},
		{"second", "package p\n\n// +c\ntype Other struct {\n\t// +d\n\tA int\n}\n\n// +a\ntype Job struct{}\n", "// +a\n"},
		{"after a function", "package p\n\n// +c\nfunc f() {\n\t// +d\n}\n\n// +a\ntype Job struct{}\n", "// +a\n"},
		{"in a group", "package p\n\n// +c\ntype (\n\t// +d\n\tOther struct{}\n\n\t// +a\n\tJob struct{}\n)\n", "// +a\n"},
		{"first of a group", "package p\n\n// +c\ntype (\n\t// +a\n\tJob struct{}\n)\n", "// +c\n// +a\n"},
		{"no such type", "package p\n\n// +a\ntype Other struct{}\n\n// +b\n", ""},
		{"mistake below", "package p\n\n// +a\ntype Job struct{}\n\nfunc {", "// +a\n"},
		{"not Go", "no", ""},
	} {
		if got := string(gofile.Above([]byte(test.src), "Job")); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

package wiring_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// TestUnreachable: only a comment behind a return of its own block counts.
func TestUnreachable(t *testing.T) {
	for src, want := range map[string]bool{
		"package p\n\nfunc f() int {\n\treturn 1\n\t// +here\n}\n":                    true,
		"package p\n\nfunc f() int {\n\tif x {\n\t\treturn 1\n\t}\n\n\t// +here\n}\n": false,
		"package p\n\nfunc f() {\n\trun(func() {\n\t\t// +here\n\t})\n\treturn\n}\n":  false,
		"package p\n\nvar a = 1\n\n\n// +here\n":                                      false,
		"a:\n- b\n":                                                                   false,
	} {
		above, _, _ := strings.Cut(src, "// +here")
		line := strings.Count(above, "\n") + 1
		if got := wiring.Unreachable([]byte(src), line); got != want {
			t.Errorf("line %d of\n%s: got %v", line, src, got)
		}
	}
}

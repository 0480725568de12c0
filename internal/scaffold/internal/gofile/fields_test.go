package gofile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

func TestFields(t *testing.T) {
	for _, test := range []struct {
		name, src string
		want      map[string]string
	}{
		{"all forms", "package p\n\ntype R struct {\n\tclient.Client\n\t*Base\n\ta, b int\n\tScheme *runtime.Scheme\n\tf func()\n}\n",
			map[string]string{"Client": "Client", "Base": "Base", "a": "int", "b": "int", "Scheme": "Scheme", "f": ""}},
		{"in a group", "package p\n\ntype (\n\tO struct{ x int }\n\tR struct{ y int }\n)\n", map[string]string{"y": "int"}},
		{"another type", "package p\n\ntype R O\n", map[string]string{}},
		{"not Go", "no", map[string]string{}},
	} {
		if diff := cmp.Diff(test.want, gofile.Fields([]byte(test.src), "R")); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

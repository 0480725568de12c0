package operation_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/operationtest"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestVendored: a vendor folder is as old as the requirements that it does not have.
func TestVendored(t *testing.T) {
	const gomod = "module example.com/op\n\ngo 1.26\n\nrequire example.com/a v1.0.0\n\nrequire example.com/b v1.2.0 // indirect\n"
	const modules = "# example.com/a v1.0.0 => ./a\n## explicit; go 1.26\nexample.com/a\n# example.com/b v1.2.0\n## explicit\nexample.com/b\n# example.com/c v1.0.0\nexample.com/c\n"
	for name, test := range map[string]struct {
		gomod, modules string
		want           bool
	}{
		"current":         {gomod, modules, true},
		"another version": {gomod + "\nrequire example.com/c v1.0.0\n", modules, false},
		"one more":        {gomod + "\nrequire example.com/d v1.0.0\n", modules, false},
		"no go.mod":       {"{", modules, true},
	} {
		dir := t.TempDir()
		operationtest.Write(t, dir, "go.mod", test.gomod)
		seen := &operationtest.Events{}
		s := &operation.Session{Dir: dir, Handler: seen}
		if operation.WarnStaleVendor(s, dir) {
			t.Errorf("%s: without a vendor folder it is old", name)
		}
		operationtest.Write(t, dir, "vendor/modules.txt", test.modules)
		if old := operation.WarnStaleVendor(s, dir); old == test.want || len(operationtest.Of[report.Warning](seen)) != map[bool]int{true: 1}[old] {
			t.Errorf("%s: %v, the warnings are %v", name, old, operationtest.Of[report.Warning](seen))
		}
	}
}

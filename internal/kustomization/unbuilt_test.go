package kustomization

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestUnbuilt: the file and the reason come first, and not how kustomize came to them.
func TestUnbuilt(t *testing.T) {
	for name, test := range map[string]struct{ archive, where, why string }{
		"a missing file":      {"-- kustomization.yaml --\nresources: [base]\n-- base/kustomization.yaml --\nresources: [x.yaml]\n", "base/x.yaml", "no such file or directory"},
		"a malformed file":    {"-- kustomization.yaml --\nresources: [y.yaml]\n-- y.yaml --\na: [\n", "y.yaml:1", "did not find expected node content"},
		"one of a base":       {"-- kustomization.yaml --\nresources: [base]\n-- base/kustomization.yaml --\nresources: [x.yaml]\n-- base/x.yaml --\na: [\n", "base/x.yaml:1", "did not find expected node content"},
		"an unknown field":    {"-- kustomization.yaml --\nresorces: []\n", "", `unknown field "resorces"`},
		"what is not of both": {"-- kustomization.yaml --\nresources: [y.yaml]\n-- y.yaml --\na: 1\n", "", "accumulating resources"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Kustomization{Folder: unpack(t, test.archive)}.Build(t.Context())
			refused, ok := errors.AsType[*report.Error](err)
			if !ok || !strings.HasSuffix(filepath.ToSlash(refused.Where), test.where) || !strings.HasPrefix(refused.Err.Error(), test.why) {
				t.Errorf("got %v", err)
			}
		})
	}
}

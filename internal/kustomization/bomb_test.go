package kustomization

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/kustomizefs"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestBuildRefusesBombs: a few hundred bytes of a kustomization do not become gigabytes, wherever they are.
func TestBuildRefusesBombs(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("  a: &l0 [text, text, text, text, text, text, text, text, text]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&bomb, "  a%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 9), ", "))
	}
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
	for name, c := range map[string]struct {
		archive string
		want    error
	}{
		"kustomization": {"-- kustomization.yaml --\ncommonAnnotations:\n" + bomb.String(), kustomizefs.ErrAliases},
		"resource":      {"-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\n" + object + "data:\n" + bomb.String(), kustomizefs.ErrAliases},
		"patch": {"-- kustomization.yaml --\nresources: [a.yaml]\npatches: [{path: p.yaml}]\n-- a.yaml --\n" + object + "-- p.yaml --\n" + object +
			"data:\n" + bomb.String(), kustomizefs.ErrAliases},
	} {
		t.Run(name, func(t *testing.T) {
			for _, image := range []string{"", "example.com/op:v1"} { // which has the kustomizations parsed before
				_, err := Kustomization{Folder: unpack(t, c.archive), Image: image}.Build(t.Context())
				if refusal, ok := errors.AsType[*report.Error](err); !ok || !errors.Is(err, c.want) || refusal.Hint == "" {
					t.Errorf("image %q: got %.500v", image, err)
				}
			}
		})
	}
}

// TestBuildRefusesDepth: what is nested too deep is refused before it is built, with the file, the line and the bound,
// read from the disk and through a view.
func TestBuildRefusesDepth(t *testing.T) {
	deep := strings.Repeat("{a: ", 4900) + strings.Repeat("}", 4900)
	folder := unpack(t, "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: "+deep+"\n")
	for name, files := range map[string]Files{"disk": {}, "view": {Root: folder, View: fileview.Disk(folder)}} {
		_, err := Kustomization{Folder: folder, Files: files}.Build(t.Context())
		known, ok := errors.AsType[*report.Error](err)
		if !ok || known.What != "the YAML is nested deeper than 500 levels" || !strings.HasSuffix(known.Where, "a.yaml:5") || known.Hint == "" {
			t.Errorf("%s: got %.500v", name, err)
		}
	}
}

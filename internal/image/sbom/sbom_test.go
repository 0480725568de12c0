package sbom_test

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/image/sbom"
)

func TestSPDX(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.1", Path: "example.com/op/cmd", Main: debug.Module{Path: "example.com/op", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "github.com/Azure/x_y", Version: "v1.0.0+incompatible"},
			{Path: "github.com/azure/x-y", Version: "v1.0.0"},
			{Path: "example.com/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/new", Version: "v1.2.0"}},
			{Path: "example.com/beside", Version: "v1.0.0", Replace: &debug.Module{Path: "../beside"}},
		}}
	tool := &debug.BuildInfo{GoVersion: "go1.26.1", Path: "example.com/op/tool", Main: info.Main, Deps: info.Deps[:1]}
	programs := []sbom.Program{{Info: info, SHA256: "00ff"}, {Info: tool, SHA256: "01ff"}}
	text, err := sbom.SPDX(programs, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	again, err := sbom.SPDX(programs, time.Unix(0, 0))
	if err != nil || !bytes.Equal(text, again) {
		t.Error("another text when asked again", err)
	}
	var d struct {
		Packages []struct {
			SPDXID       string
			Name         string
			ExternalRefs []struct{ ReferenceLocator string }
		}
		Relationships []struct{ RelatedSpdxElement string }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	var ids, purls []string
	for _, p := range d.Packages {
		ids = append(ids, p.SPDXID)
		for _, r := range p.ExternalRefs {
			purls = append(purls, r.ReferenceLocator)
		}
	}
	for _, r := range d.Relationships {
		if !slices.Contains(ids, r.RelatedSpdxElement) {
			t.Errorf("%s is no package", r.RelatedSpdxElement)
		}
	}
	slices.Sort(ids)
	if len(ids) != 8 || len(slices.Compact(ids)) != 8 {
		t.Errorf("%d identifiers, want 8: %q", len(ids), ids)
	}
	want := []string{"pkg:golang/stdlib@1.26.1", "pkg:golang/github.com/azure/x_y@v1.0.0%2Bincompatible", "pkg:golang/github.com/azure/x-y@v1.0.0", "pkg:golang/example.com/new@v1.2.0"}
	if !slices.Equal(purls, want) {
		t.Errorf("got %q, want %q", purls, want)
	}
}

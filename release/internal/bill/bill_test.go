package bill_test

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/slipway-dev/slipway/release/internal/bill"
)

var date = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// TestOf: the bill lists the module of a program that has one, twice in the same bytes.
func TestOf(t *testing.T) {
	built := filepath.Join(t.TempDir(), "program")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", built, "./testdata/program").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	programs := []bill.Program{{"one", built}, {"two", built}}
	text, err := bill.Of("v0.1.0", date, programs)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := bill.Of("v0.1.0", date.In(time.FixedZone("east", 3600)), programs); err != nil || !bytes.Equal(text, again) {
		t.Errorf("other bytes, or %v", err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, c := range *bom.Components {
		versions[c.Name] = c.Version
	}
	info, err := buildinfo.ReadFile(built)
	if err != nil || len(info.Deps) != 1 {
		t.Fatal(info, err)
	}
	m := info.Deps[0]
	if versions[m.Path] != m.Version || versions["std"] != strings.TrimPrefix(info.GoVersion, "go") || versions["one"] == "" {
		t.Errorf("%v, and the program has %s %s and %s", versions, m.Path, m.Version, info.GoVersion)
	}
	if len(*bom.Dependencies) != 3 || bom.SpecVersion != cdx.SpecVersion1_6 || bom.Metadata.Timestamp != "2026-02-03T04:05:06Z" {
		t.Errorf("got %s", text)
	}
}

// TestNoProgram: a file without notes of the go command has no bill.
func TestNoProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := bill.Of("v0.1.0", date, []bill.Program{{"script", path}}); err == nil {
		t.Error("no error")
	}
}

package header_test

import (
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

const file = "hack/boilerplate.go.txt"

func TestRead(t *testing.T) {
	for _, test := range []struct{ name, files, want, where string }{
		{"none", "", "", ""},
		{"empty", "-- " + file + " --\n\n", "", ""},
		{"a comment", "-- " + file + " --\n// mine\n", "// mine\n\n", ""},
		{"no comment", "-- " + file + " --\nmine\n", "", file + ":1"},
		{"a folder", "-- " + file + "/x --\n", "", file},
	} {
		root := t.TempDir()
		projecttest.Unpack(t, root, test.files)
		p, err := plan.New(fileview.Disk(root))
		if err != nil {
			t.Fatal(err)
		}
		got, err := header.Read(p)
		if refusal, ok := errors.AsType[*report.Error](err); got != test.want || ok != (test.where != "") || ok && refusal.Where != test.where {
			t.Errorf("%s: got %q, %v, want %q", test.name, got, err, test.want)
		}
		if _, err := header.Read(p.Record(&plan.Needs{})); err != nil && test.name != "a folder" {
			t.Errorf("%s: a plan that records fails: %v", test.name, err)
		}
	}
}

// TestRelicense changes the header that is there, or makes one.
func TestRelicense(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	for _, license := range []header.License{{Name: "none"}, {Text: "mine"}, {Owner: "Jane", Year: 2026}} {
		projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), header.Relicense(license)))
		comment, err := license.Comment("op")
		if err != nil {
			t.Fatal(err)
		}
		if got := projecttest.Read(t, root, file); got != comment+"\n" {
			t.Errorf("the header is %q, want %q", got, comment)
		}
	}
	bare := t.TempDir()
	projecttest.Unpack(t, bare, "-- PROJECT --\n"+projecttest.Read(t, root, "PROJECT"))
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(bare), header.Relicense(header.License{Text: "mine"})))
	projecttest.Holds(t, bare, file, "// mine\n")
	if _, err := projectfile.Edit(fileview.Disk(root), header.Relicense(header.License{Name: "gpl"})); err == nil {
		t.Error("an unknown license is taken")
	}
}

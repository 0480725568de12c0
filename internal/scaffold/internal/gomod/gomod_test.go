package gomod_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// folder has these files.
func folder(t *testing.T, files string) string {
	t.Helper()
	root := t.TempDir()
	projecttest.Unpack(t, root, files)
	return root
}

func TestRead(t *testing.T) {
	for _, test := range []struct{ name, files, path, where string }{
		{"none", "", "", ""},
		{"one", "-- go.mod --\nmodule example.com/op\n", "example.com/op", ""},
		{"no module file", "-- go.mod --\n\nmodul example.com/op\n", "", "go.mod:2:1"},
		{"without a module", "-- go.mod --\ngo 1.20\n", "", "go.mod:1"},
		{"a folder", "-- go.mod/x --\n", "", "go.mod"},
	} {
		mod, err := gomod.Read(fileview.Disk(folder(t, test.files)))
		if refusal, ok := errors.AsType[*report.Error](err); ok != (test.where != "") || ok && refusal.Where != test.where {
			t.Errorf("%s: got %v, want a refusal of %q", test.name, err, test.where)
		}
		if (mod != nil) != (test.path != "") || mod != nil && mod.Path() != test.path {
			t.Errorf("%s: got %v", test.name, mod)
		}
	}
}

// TestPin: what scaffolded code needs is required beside what is there, and newer versions stay.
func TestPin(t *testing.T) {
	root := folder(t, `
-- go.mod --
module example.com/mine

go 1.99

require (
	example.org/x v1.0.0
	k8s.io/api v0.1.0
	k8s.io/client-go v0.999.0
)
-- go.sum --
zzz.example/x v1.0.0 h1:abc=
aaa.example/x v1.10.0/go.mod h1:abc=
aaa.example/x v1.10.0 h1:abc=
aaa.example/x v1.9.0 h1:abc=
`)
	mod, err := gomod.Read(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	projecttest.Apply(t)(p, gomod.Pin(p, "example.com/mine", mod))
	projecttest.Holds(t, root, "go.mod", "module example.com/mine\n", "go 1.99\n", "example.org/x v1.0.0\n", "k8s.io/client-go v0.999.0\n", "!k8s.io/api v0.1.0", "sigs.k8s.io/controller-runtime v")
	sums := projecttest.Read(t, root, "go.sum")
	if !strings.HasPrefix(sums, "aaa.example/x v1.9.0 h1:abc=\naaa.example/x v1.10.0 h1:abc=\naaa.example/x v1.10.0/go.mod h1:abc=\n") || !strings.HasSuffix(sums, "zzz.example/x v1.0.0 h1:abc=\n") {
		t.Error("go.sum is not in the go command's order")
	}
}

func TestModuleOf(t *testing.T) {
	root := folder(t, "-- go.mod --\nmodule example.com/op\n\nrequire (\n\texample.org/x v1.0.0\n\texample.org/x/y v1.0.0\n)\n")
	for pkg, want := range map[string]string{"example.org/x": "example.org/x", "example.org/x/z": "example.org/x", "example.org/x/y/z": "example.org/x/y", "example.org/xy": ""} {
		got, err := gomod.ModuleOf(fileview.Disk(root), pkg)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s is of the module %q, %v, want %q", pkg, got, err, want)
		}
	}
}

// TestDirectUse: only the comment of the requirement changes, and the block that it stands in; comments of its author's
// stay.
func TestDirectUse(t *testing.T) {
	const head = "module example.com/op\n\nrequire "
	for _, test := range []struct{ name, indirect, direct string }{
		{"alone", "example.org/x v1.0.0 // indirect\n", "example.org/x v1.0.0\n"},
		{"in blocks", "example.org/a v1.0.0\n\nrequire (\n\texample.org/b v1.0.0 // indirect\n\texample.org/x v1.0.0 // indirect\n)\n", "(\n\texample.org/a v1.0.0\n\texample.org/x v1.0.0\n)\n\nrequire example.org/b v1.0.0 // indirect\n"},
		{"not required", "example.org/a v1.0.0\n", "example.org/a v1.0.0\n"},
	} {
		use := gomod.DirectUse{Module: "example.org/x"}
		out, err := use.Insert("go.mod", []byte(head+test.indirect))
		if err != nil || cmp.Diff(head+test.direct, string(out)) != "" {
			t.Errorf("%s: put gives %s, %v", test.name, cmp.Diff(head+test.direct, string(out)), err)
		}
		if out, _ = use.Remove(out); cmp.Diff(head+test.indirect, string(out)) != "" {
			t.Errorf("%s: take gives %s", test.name, cmp.Diff(head+test.indirect, string(out)))
		}
	}
	if out, err := (gomod.DirectUse{Module: "x"}).Insert("go.mod", []byte("not a module file")); err != nil || string(out) != "not a module file" {
		t.Errorf("what is no module file becomes %q, %v", out, err)
	}
}

// TestPinFeature: a feature's modules come with it, and go with it in a project that has no others besides a new one's.
func TestPinFeature(t *testing.T) {
	const module = "github.com/open-policy-agent/cert-controller"
	root := projecttest.New(t, newproject.Options{})
	before := projecttest.Tree(t, root)
	with := func(t *testing.T, root string, does func(p *plan.Plan) error) {
		t.Helper()
		p, err := plan.New(fileview.Disk(root))
		if err != nil {
			t.Fatal(err)
		}
		projecttest.Apply(t)(p, does(p))
	}
	with(t, root, func(p *plan.Plan) error { return gomod.PinFeature(p, "selfcert", module) })
	projecttest.Holds(t, root, "go.mod", module+" v")
	projecttest.Holds(t, root, "go.sum", module+" v")
	take := func(p *plan.Plan) error {
		var needs plan.Needs
		if err := gomod.PinFeature(p.Record(&needs), "selfcert", module); err != nil {
			return err
		}
		for _, n := range needs.Pieces {
			f, err := p.Find(n.Path)
			if err != nil {
				return err
			}
			out, _ := n.Of(f.After())[0].Remove(f.After())
			if err := p.Write(n.Path, out); err != nil {
				return err
			}
		}
		return nil
	}
	mine := folder(t, "-- go.mod --\n"+projecttest.Read(t, root, "go.mod")+"\nrequire example.org/mine v1.0.0\n-- go.sum --\n"+projecttest.Read(t, root, "go.sum")+"example.org/mine v1.0.0 h1:abc=\n")
	with(t, mine, take) // `go mod tidy` knows what it needs
	projecttest.Holds(t, mine, "go.mod", module+" v")
	projecttest.Holds(t, mine, "go.sum", module+" v")
	with(t, root, take)
	if diff := cmp.Diff(before, projecttest.Tree(t, root)); diff != "" {
		t.Error(diff)
	}
}

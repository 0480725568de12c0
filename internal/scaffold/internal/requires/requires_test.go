package requires_test

import (
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/requires"
)

func read(t *testing.T, files string) requires.Versions {
	t.Helper()
	root := t.TempDir()
	projecttest.Unpack(t, root, files)
	v, err := requires.Read(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const head = "-- go.mod --\nmodule example.com/op\n\ngo 1.19\n\nrequire sigs.k8s.io/controller-runtime "

// TestRefusals: what a version does not have is refused with its line and the update that helps.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name, files string
		check       func(requires.Versions) error
		where, next string // "" when it is taken
	}{
		{"a reconciler without a context", head + "v0.6.4\n", requires.Versions.CheckControllers, "go.mod:5", "go get sigs.k8s.io/controller-runtime@v0.7.2 && go mod tidy"},
		{"the first with one", head + "v0.7.0\n", requires.Versions.CheckControllers, "", ""},
		{"validators without warnings", head + "v0.14.4\n", requires.Versions.CheckWebhooks, "go.mod:5", "go get sigs.k8s.io/controller-runtime@v0.15.3 && go mod tidy"},
		{"the first with warnings, before its release", head + "v0.15.0-alpha.0\n", requires.Versions.CheckWebhooks, "", ""},
		{"a fork of another version", head + "v0.25.0\n\nreplace sigs.k8s.io/controller-runtime => example.org/fork v0.14.0\n", requires.Versions.CheckWebhooks, "go.mod:7", "go get sigs.k8s.io/controller-runtime@v0.15.3 && go mod tidy"},
		{"a folder instead", head + "v0.14.0\n\nreplace sigs.k8s.io/controller-runtime => ../fork\n", requires.Versions.CheckWebhooks, "", ""},
		{"no such module", "-- go.mod --\nmodule example.com/op\n", requires.Versions.CheckWebhooks, "", ""},
		{"no go.mod", "", requires.Versions.CheckWebhooks, "", ""},
		{"paths", head + "v0.20.4\n", requires.Versions.CheckPaths, "go.mod:5", "go get sigs.k8s.io/controller-runtime@v0.21.0 && go mod tidy"},
		{"a status that is applied", head + "v0.22.4\n", func(v requires.Versions) error { return v.CheckApply("--ssa") }, "go.mod:5", "go get sigs.k8s.io/controller-runtime@v0.23.3 && go mod tidy"},
	} {
		err := test.check(read(t, test.files))
		refusal, refused := errors.AsType[*report.Error](err)
		switch {
		case refused != (test.where != ""):
			t.Errorf("%s: got %v", test.name, err)
		case refused && (refusal.Where != test.where || refusal.Next != test.next || refusal.Hint == ""):
			t.Errorf("%s: got %+v", test.name, refusal)
		}
	}
}

// TestForms: the form of what is written follows from the version.
func TestForms(t *testing.T) {
	old, middle, latest := read(t, head+"v0.15.3\n"), read(t, head+"v0.22.4\n"), read(t, "-- go.mod --\nmodule example.com/op\n\ngo 1.26.0\n\nrequire sigs.k8s.io/controller-runtime v0.25.2\n")
	for _, test := range []struct {
		what    string
		form    func(requires.Versions) bool
		o, m, l bool
	}{
		{"typed webhooks", requires.Versions.TypedWebhooks, false, false, true},
		{"webhooks that are methods", requires.Versions.MethodWebhooks, true, false, false},
		{"a server of metrics", requires.Versions.MetricsServer, false, true, true},
		{"randfill", requires.Versions.Randfill, false, true, true},
		{"diff", requires.Versions.Diff, false, true, true},
		{"Go 1.24", func(v requires.Versions) bool { return v.Go("v1.24.0") }, false, false, true},
		{"slices", requires.Versions.Slices, false, false, true},
		{"a test's context", func(v requires.Versions) bool { return v.TestContext() == "t.Context()" }, false, false, true},
		{"omitzero", func(v requires.Versions) bool { return v.OmitZero() == "omitzero" }, false, false, true},
	} {
		if o, m, l := test.form(old), test.form(middle), test.form(latest); o != test.o || m != test.m || l != test.l {
			t.Errorf("%s: got %v, %v, %v", test.what, o, m, l)
		}
	}
	for requirements, want := range map[string]bool{"": true, "v0.6.0\n": false, "v0.7.0\n": true, "v0.5.0\nrequire k8s.io/apimachinery v0.17.2\n": false, "v0.6.5\nrequire k8s.io/apimachinery v0.19.0\n": true} {
		v := requires.Versions{}
		if requirements != "" {
			v = read(t, head+requirements)
		}
		if got := v.Conditions(); got != want {
			t.Errorf("conditions with %q: got %v", requirements, got)
		}
	}
}

package codebase_test

import (
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
)

func versionsOf(t *testing.T, files string) codebase.Versions {
	t.Helper()
	return read(unpacked(t, files)).Versions()
}

const ofRuntime = "-- go.mod --\nmodule example.com/op\n\ngo 1.19\n\nrequire sigs.k8s.io/controller-runtime "

// TestVersionsRefuse: what a version does not have is refused with its line and the update that helps.
func TestVersionsRefuse(t *testing.T) {
	for _, test := range []struct {
		name, files string
		check       func(codebase.Versions) error
		where, next string // "" when it is taken
	}{
		{"a reconciler without a context", ofRuntime + "v0.6.4\n", codebase.Versions.CheckControllers, "go.mod:5", "go get sigs.k8s.io/controller-runtime@v0.7.2 && go mod tidy"},
		{"the first with one", ofRuntime + "v0.7.0\n", codebase.Versions.CheckControllers, "", ""},
		{"validators without warnings", ofRuntime + "v0.14.4\n", codebase.Versions.CheckWebhooks, "go.mod:5", "go get sigs.k8s.io/controller-runtime@v0.15.3 && go mod tidy"},
		{"the first with warnings, before its release", ofRuntime + "v0.15.0-alpha.0\n", codebase.Versions.CheckWebhooks, "", ""},
		{"a fork of another version", ofRuntime + "v0.25.0\n\nreplace sigs.k8s.io/controller-runtime => example.org/fork v0.14.0\n", codebase.Versions.CheckWebhooks, "go.mod:7", "go get sigs.k8s.io/controller-runtime@v0.15.3 && go mod tidy"},
		{"a folder instead", ofRuntime + "v0.14.0\n\nreplace sigs.k8s.io/controller-runtime => ../fork\n", codebase.Versions.CheckWebhooks, "", ""},
		{"no such module", "-- go.mod --\nmodule example.com/op\n", codebase.Versions.CheckWebhooks, "", ""},
		{"no go.mod", "", codebase.Versions.CheckWebhooks, "", ""},
		{"paths", ofRuntime + "v0.20.4\n", codebase.Versions.CheckPaths, "go.mod:5", "go get sigs.k8s.io/controller-runtime@v0.21.0 && go mod tidy"},
		{"a status that is applied", ofRuntime + "v0.22.4\n", func(v codebase.Versions) error { return v.CheckApply("--ssa") }, "go.mod:5", "go get sigs.k8s.io/controller-runtime@v0.23.3 && go mod tidy"},
	} {
		err := test.check(versionsOf(t, test.files))
		refusal, refused := errors.AsType[*report.Error](err)
		switch {
		case refused != (test.where != ""):
			t.Errorf("%s: got %v", test.name, err)
		case refused && (refusal.Where != test.where || refusal.Next != test.next || refusal.Hint == ""):
			t.Errorf("%s: got %+v", test.name, refusal)
		}
	}
}

// TestVersions: the form of what is written follows from the version.
func TestVersions(t *testing.T) {
	old, middle, latest := versionsOf(t, ofRuntime+"v0.15.3\n"), versionsOf(t, ofRuntime+"v0.22.4\n"), versionsOf(t, "-- go.mod --\nmodule example.com/op\n\ngo 1.26.0\n\nrequire sigs.k8s.io/controller-runtime v0.25.2\n")
	for _, test := range []struct {
		what    string
		form    func(codebase.Versions) bool
		o, m, l bool
	}{
		{"typed webhooks", codebase.Versions.TypedWebhooks, false, false, true},
		{"webhooks that are methods", codebase.Versions.MethodWebhooks, true, false, false},
		{"a server of metrics", codebase.Versions.MetricsServer, false, true, true},
		{"randfill", codebase.Versions.Randfill, false, true, true},
		{"diff", codebase.Versions.Diff, false, true, true},
		{"Go 1.24", func(v codebase.Versions) bool { return v.Go("v1.24.0") }, false, false, true},
		{"slices", codebase.Versions.Slices, false, false, true},
		{"a test's context", func(v codebase.Versions) bool { return v.TestContext() == "t.Context()" }, false, false, true},
		{"omitzero", func(v codebase.Versions) bool { return v.OmitZero() == "omitzero" }, false, false, true},
	} {
		if o, m, l := test.form(old), test.form(middle), test.form(latest); o != test.o || m != test.m || l != test.l {
			t.Errorf("%s: got %v, %v, %v", test.what, o, m, l)
		}
	}
	for requirements, want := range map[string]bool{"": true, "v0.6.0\n": false, "v0.7.0\n": true, "v0.5.0\nrequire k8s.io/apimachinery v0.17.2\n": false, "v0.6.5\nrequire k8s.io/apimachinery v0.19.0\n": true} {
		v := codebase.Versions{}
		if requirements != "" {
			v = versionsOf(t, ofRuntime+requirements)
		}
		if got := v.Conditions(); got != want {
			t.Errorf("conditions with %q: got %v", requirements, got)
		}
	}
}

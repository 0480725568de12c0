package codebase

import (
	"fmt"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/report"
)

const controllerRuntime = "sigs.k8s.io/controller-runtime"

// Versions are the versions of Go, controller-runtime and apimachinery that a project requires. Methods report what its
// code may use. Check methods refuse a version that is too old and name the update. An unknown version, as in the zero
// value, counts as new enough.
type Versions struct {
	golang  string // "v1.25.0"
	runtime string // "v0.22.4"
	line    int    // line of controller-runtime in go.mod
	types   string // of apimachinery
}

// Versions returns the versions in the project's go.mod. Unknown ones count as new.
func (c *Codebase) Versions() (v Versions) {
	data, err := c.view.ReadFile("go.mod")
	if err != nil {
		return v
	}
	mod, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return v // the command that changes the project reports the error
	}
	if mod.Go != nil {
		v.golang = "v" + mod.Go.Version
	}
	v.runtime, v.line = effectiveVersion(mod, controllerRuntime)
	v.types, _ = effectiveVersion(mod, "k8s.io/apimachinery")
	return v
}

// effectiveVersion returns the version of a module that the build uses, and its line in go.mod. The version is "" for a
// module that is not required, or that a folder replaces.
func effectiveVersion(mod *modfile.File, module string) (version string, line int) {
	for _, r := range mod.Require {
		if r.Mod.Path == module {
			version, line = r.Mod.Version, r.Syntax.Start.Line
		}
	}
	for _, r := range mod.Replace {
		if version != "" && r.Old.Path == module && (r.Old.Version == "" || r.Old.Version == version) {
			return r.New.Version, r.Syntax.Start.Line
		}
	}
	return version, line
}

// since reports whether controller-runtime is at least this version. Its pre-releases count.
func (v Versions) since(version string) bool { return newer(v.runtime, version) }

func newer(have, version string) bool {
	return !semver.IsValid(have) || semver.Compare(have, version+"-0") >= 0
}

// TypedWebhooks reports whether a webhook's methods take objects of its type. Earlier ones take any object.
func (v Versions) TypedWebhooks() bool { return v.since("v0.23.0") }

// MethodWebhooks reports whether a webhook may be a method of its kind. Since v0.20 such methods are never called.
func (v Versions) MethodWebhooks() bool { return !v.since("v0.20.0") }

// MetricsServer reports whether the manager's metrics options are those of a separate server.
func (v Versions) MetricsServer() bool { return v.since("v0.16.0") }

// Randfill reports whether random objects come from sigs.k8s.io/randfill. Before, they come from gofuzz.
func (v Versions) Randfill() bool { return v.since("v0.21.0") }

// Diff reports whether apimachinery's package diff has the function Diff.
func (v Versions) Diff() bool { return v.since("v0.22.0") }

// Conditions reports whether apimachinery has the type metav1.Condition.
func (v Versions) Conditions() bool {
	if v.types == "" {
		return v.since("v0.7.0") // controller-runtime v0.7.0 requires apimachinery v0.19
	}
	return newer(v.types, "v0.19.0")
}

// Go reports whether the project's version of Go is at least this one, such as "v1.24.0".
func (v Versions) Go(version string) bool { return newer(v.golang, version) }

// Slices reports whether the standard library has package slices.
func (v Versions) Slices() bool { return v.Go("v1.21.0") }

// TestContext returns the expression for the context of a test called t.
func (v Versions) TestContext() string {
	if v.Go("v1.24.0") {
		return "t.Context()"
	}
	return "context.Background()"
}

// TestImportsContext reports whether a test needs an import for [Versions.TestContext].
func (v Versions) TestImportsContext() bool { return !v.Go("v1.24.0") }

// OmitZero returns the JSON tag option that omits an empty struct, if the project's Go has one.
func (v Versions) OmitZero() string {
	if v.Go("v1.24.0") {
		return "omitzero"
	}
	return "omitempty"
}

// A need is a part of controller-runtime that scaffolded code depends on.
type need struct {
	what  string // plural subject of the message
	since string // first version that has it
	to    string
	hint  string
}

// CheckControllers refuses versions with another signature of Reconcile.
func (v Versions) CheckControllers() error {
	return v.check(need{"controllers", "v0.7.0", "v0.7.2", "without a controller the types can be created: --controller=false"})
}

// CheckWebhooks refuses versions whose validators return no warnings.
func (v Versions) CheckWebhooks() error {
	return v.check(need{"webhooks", "v0.15.0", "v0.15.3", "after the update, go vet ./... lists more changes: main.go sets WebhookServer in another way"})
}

// CheckPaths refuses versions that derive the path of a webhook from its kind.
func (v Versions) CheckPaths() error {
	return v.check(need{"webhooks with other paths", "v0.21.0", "v0.21.0", "leave out --defaulting-path and --validation-path, or update"})
}

// CheckApply refuses versions whose client cannot apply apply configurations to a status. Flag is the caller's, for the
// hint.
func (v Versions) CheckApply(flag string) error {
	return v.check(need{"controllers with " + flag, "v0.23.0", "v0.23.3", "leave out " + flag + ", or update"})
}

func (v Versions) check(n need) error {
	if v.since(n.since) {
		return nil
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("%s need controller-runtime %s or newer, but the project requires %s", n.what, n.since, v.runtime),
		Where: fmt.Sprintf("go.mod:%d", v.line), Hint: n.hint + "; nothing was changed",
		Next: fmt.Sprintf("go get %s@%s && go mod tidy", controllerRuntime, n.to),
	}
}

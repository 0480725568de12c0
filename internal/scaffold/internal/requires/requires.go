// Package requires knows for which versions of Go and controller-runtime a project's code is written: those that its
// go.mod names. [Versions] says what code can use with them, and refuses what they do not have with the update that
// helps. A project whose versions are not known is taken for a new one.
//
//	versions, err := requires.Read(view)
//	err = versions.CheckWebhooks()
//	if versions.TypedWebhooks() { … }
package requires

import (
	"fmt"
	"io/fs"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
)

const controllerRuntime = "sigs.k8s.io/controller-runtime"

// Versions are those of Go, controller-runtime and apimachinery; the zero value is newer than all that matters here.
type Versions struct {
	golang  string // "v1.25.0"
	runtime string // "v0.22.4"
	line    int    // of go.mod, with the latter
	types   string // of apimachinery
}

// Read reads them from the go.mod of a project.
func Read(files fs.ReadFileFS) (Versions, error) {
	mod, err := gomod.Read(files)
	if err != nil || mod == nil {
		return Versions{}, err
	}
	v := Versions{}
	if mod.Go() != "" {
		v.golang = "v" + mod.Go()
	}
	v.runtime, v.line = mod.Version(controllerRuntime)
	v.types, _ = mod.Version("k8s.io/apimachinery")
	return v, nil
}

// since reports whether controller-runtime is of this version or newer, pre-releases of it included.
func (v Versions) since(version string) bool { return newer(v.runtime, version) }

func newer(have, version string) bool {
	return !semver.IsValid(have) || semver.Compare(have, version+"-0") >= 0
}

// TypedWebhooks reports whether webhooks are made for a type, and their methods take objects of it. Before, they take
// any object.
func (v Versions) TypedWebhooks() bool { return v.since("v0.23.0") }

// MethodWebhooks reports whether a webhook may be a method of its kind. Since then, such a method is never called.
func (v Versions) MethodWebhooks() bool { return !v.since("v0.20.0") }

// MetricsServer reports whether a manager's options for metrics are those of a server of their own.
func (v Versions) MetricsServer() bool { return v.since("v0.16.0") }

// Randfill reports whether random objects come from sigs.k8s.io/randfill. Before, they come from gofuzz.
func (v Versions) Randfill() bool { return v.since("v0.21.0") }

// Diff reports whether apimachinery's package diff has the function Diff.
func (v Versions) Diff() bool { return v.since("v0.22.0") }

// Conditions reports whether apimachinery has the type of conditions.
func (v Versions) Conditions() bool {
	if v.types == "" {
		return v.since("v0.7.0") // which requires it
	}
	return newer(v.types, "v0.19.0")
}

// Go reports whether the project's version of Go is at least this one, such as "v1.24.0".
func (v Versions) Go(version string) bool { return newer(v.golang, version) }

// Slices reports whether the standard library has the package slices.
func (v Versions) Slices() bool { return v.Go("v1.21.0") }

// TestContext is the context of a test called t, as code has it.
func (v Versions) TestContext() string {
	if v.Go("v1.24.0") {
		return "t.Context()"
	}
	return "context.Background()"
}

// TestImportsContext reports whether a test needs an import for [Versions.TestContext].
func (v Versions) TestImportsContext() bool { return !v.Go("v1.24.0") }

// OmitZero is the option of a json tag that leaves out an empty struct, where Go knows one.
func (v Versions) OmitZero() string {
	if v.Go("v1.24.0") {
		return "omitzero"
	}
	return "omitempty"
}

// A need is a part of controller-runtime that scaffolded code uses.
type need struct {
	what  string // that needs it
	since string // the first version that has it, and what the update is to
	to    string
	hint  string
}

// CheckControllers refuses versions whose reconcilers are of another form.
func (v Versions) CheckControllers() error {
	return v.check(need{"controllers", "v0.7.0", "v0.7.2", "without a controller the types can be created: --controller=false"})
}

// CheckWebhooks refuses versions in which validators return no warnings.
func (v Versions) CheckWebhooks() error {
	return v.check(need{"webhooks", "v0.15.0", "v0.15.3", "after the update, go vet ./... lists more changes: main.go sets WebhookServer in another way"})
}

// CheckPaths refuses versions in which the path of a webhook follows from the kind.
func (v Versions) CheckPaths() error {
	return v.check(need{"webhooks with other paths", "v0.21.0", "v0.21.0", "leave out --defaulting-path and --validation-path, or update"})
}

// CheckApply refuses versions whose client does not apply apply configurations to a status.
func (v Versions) CheckApply(flag string) error {
	return v.check(need{"controllers with " + flag, "v0.23.0", "v0.23.3", "leave out " + flag + ", or update"})
}

func (v Versions) check(n need) error {
	if v.since(n.since) {
		return nil
	}
	return &report.Error{
		What:  fmt.Sprintf("%s need controller-runtime %s or newer, but the project requires %s", n.what, n.since, v.runtime),
		Where: fmt.Sprintf("go.mod:%d", v.line), Hint: n.hint + "; nothing was changed",
		Next: fmt.Sprintf("go get %s@%s && go mod tidy", controllerRuntime, n.to),
	}
}

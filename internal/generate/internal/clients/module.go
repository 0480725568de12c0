package clients

import (
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/report"
)

// goModule is a module that a folder lies in.
type goModule struct{ dir, path string }

// moduleOf finds the module of a folder, which need not exist yet.
func moduleOf(loader *load.Loader, dir string) (goModule, error) {
	for at := dir; ; {
		text, err := loader.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil {
			if path := modfile.ModulePath(text); path != "" {
				return goModule{at, path}, nil
			}
			return goModule{}, &report.Error{Class: report.BadProject, What: "go.mod names no module", Where: filepath.Join(at, "go.mod")}
		}
		parent := filepath.Dir(at)
		if parent == at {
			return goModule{}, &report.Error{Class: report.BadProject, What: "no go.mod in this folder or above", Where: dir, Hint: "clients need a Go module; go mod init creates one"}
		}
		at = parent
	}
}

// clientGo is the version of client-go that the module requires, or else of apimachinery, which has the same ones; ""
// when it requires neither, or no release of them.
func (m goModule) clientGo(loader *load.Loader) string {
	text, err := loader.ReadFile(filepath.Join(m.dir, "go.mod"))
	if err != nil {
		return ""
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return "" // told by the loader
	}
	for _, path := range []string{"k8s.io/client-go", "k8s.io/apimachinery"} {
		if version := required(file, path); semver.IsValid(version) && !module.IsPseudoVersion(version) {
			return version
		}
	}
	return ""
}

// required is the version of a module that a go.mod says is to be used, whatever it is replaced by.
func required(file *modfile.File, path string) string {
	version := ""
	for _, r := range file.Require {
		if r.Mod.Path == path {
			version = r.Mod.Version
		}
	}
	for _, r := range file.Replace {
		if r.Old.Path == path && (r.Old.Version == "" || r.Old.Version == version) && r.New.Version != "" {
			version = r.New.Version
		}
	}
	return version
}

package kind

import (
	"strings"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/report"
)

// An External says where the Go types of another module are.
type External struct {
	Path   string // import path
	Domain string // of the group
	Module string // the module, with its version
}

// Check refuses paths that Go would refuse later.
func (e External) Check() error {
	if e.Path == "" {
		if e.Domain != "" || e.Module != "" {
			return &report.Error{What: "the import path of the types is missing", Where: "--external-api-path", Hint: "add --external-api-path, such as github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"}
		}
		return nil
	}
	if err := module.CheckImportPath(e.Path); err != nil {
		return &report.Error{What: "invalid import path of the types", Where: "--external-api-path " + e.Path, Err: err}
	}
	name, version, ok := strings.Cut(e.Module, "@")
	if e.Module == "" {
		return nil
	}
	if err := module.CheckPath(name); err != nil || ok && version == "" {
		return &report.Error{What: "invalid module of the types", Where: "--external-api-module " + e.Module, Hint: "use a module and its version, such as github.com/cert-manager/cert-manager@v1.18.2", Err: err}
	}
	if e.Path != name && !strings.HasPrefix(e.Path, name+"/") {
		return &report.Error{What: "that module does not have the types", Where: "--external-api-module " + e.Module, Hint: e.Path + " does not begin with " + name}
	}
	return nil
}

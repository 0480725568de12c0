package generation

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// replacedRoles maps paths of replaced files to the name of the role in each.
type replacedRoles map[string]string

// note is called with each file before it is replaced.
func (r replacedRoles) note(path string, before []byte) {
	if name := generate.RoleName(before); name != "" {
		r[path] = name
	}
}

// warnOfRoles warns of replaced roles that had another name. Those were written by hand, and their permissions are
// lost. controller-gen replaces them silently.
func warnOfRoles(s *operation.Session, root string, before replacedRoles, result generate.Result) {
	for _, f := range result.Files {
		name, after := before[f.Path], generate.RoleName(f.Content)
		if name == "" || after == "" || after == name {
			continue
		}
		s.Handler.Handle(report.Warning{Text: fmt.Sprintf(
			"%s: the role %s was replaced by %s, which has the permissions of +kubebuilder:rbac markers alone; to keep it, restore it under another file name",
			regenerate.Relative(root, f.Path), name, after)})
	}
}

package generation

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// replacedRoles are the names of the roles in files that a run replaces, by the files' paths.
type replacedRoles map[string]string

// note remembers the role of a file.
func (r replacedRoles) note(path string, before []byte) {
	if name := generate.RoleName(before); name != "" {
		r[path] = name
	}
}

// warnOfRoles warns, after a run, of roles that were replaced by ones of another name: their author wrote them by hand,
// and their permissions are gone. controller-gen replaces them silently.
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

package operation

import (
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
)

// roleFile is where the generator writes the manager's role.
const roleFile = "config/rbac/role.yaml"

// warnOfRole returns a function that warns, after a run, if a role that is there now was replaced by one of another
// name: its author wrote it by hand, and its permissions are gone. controller-gen replaces it silently.
func (s *Session) warnOfRole(root string) func(result generate.Result) {
	path := filepath.Join(root, filepath.FromSlash(roleFile))
	content, err := finite.ReadFile(path)
	if err != nil {
		return func(generate.Result) {} // there is none, or generating reports it
	}
	return func(result generate.Result) {
		for _, f := range result.Files {
			if f.Path != path || f.Action != report.Updated {
				continue
			}
			if before, after := roleName(content), roleName(f.Content); before != "" && after != "" && after != before {
				s.Handler.Handle(report.Warning{Text: fmt.Sprintf(
					"%s: the role %s was replaced by %s, which has the permissions of +kubebuilder:rbac markers alone; to keep it, restore it under another file name",
					roleFile, before, after)})
			}
		}
	}
}

// roleName is the name of a file's role, or "".
func roleName(content []byte) string {
	if m := regexp.MustCompile(`(?m)^metadata:\s*\n(?:[ \t]+.*\n)*?[ \t]+name:[ \t]*([\w.:-]+)`).FindSubmatch(content); m != nil {
		return string(m[1])
	}
	return ""
}

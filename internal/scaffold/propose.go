package scaffold

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
)

// usualDomain stands for a domain that is not known.
const usualDomain = "example.com"

// ProposeProject returns the lines of a PROJECT file for the code in folder root, the module repo, which has none. The
// domain is that of the code's API groups, which may have none; known says that there are some.
func ProposeProject(root, repo string) (lines []string, known bool, err error) {
	file, known, err := projectfile.Propose(root, repo)
	if err != nil {
		return nil, false, err
	}
	if !known {
		file.Domain = usualDomain
	}
	lines = []string{`version: "3"`, "layout: [" + strings.Join(file.Layout, ", ") + "]"}
	if file.Domain != "" {
		lines = append(lines, "domain: "+file.Domain)
	}
	if file.MultiGroup {
		lines = append(lines, "multigroup: true")
	}
	return append(lines, "projectName: "+file.Name, "repo: "+file.Repo), known, nil
}

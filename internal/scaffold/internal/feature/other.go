package feature

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// An otherFolder is a feature that a project has in another folder than layouts have it, such as
// config/components/certmanager. Its names, and what else belongs to it, are its authors'.
type otherFolder struct {
	folder string
	line   int // of the default configuration, which lists it
	off    bool
}

var listedFolder = lazy.Regexp(`^\s*(#?)\s*- "?([^\s"#]+)"?\s*$`)

// other is the feature in another folder that the default configuration lists, in a comment or not. It has no folder
// where the feature's line is there, too, or will be.
func (p *planner) other(f Feature) (otherFolder, error) {
	c, err := p.Find(defaultConfig)
	if err != nil || p.Recording() || !c.There() {
		return otherFolder{}, err
	}
	var found otherFolder
	for i, line := range strings.Split(string(c.After()), "\n") {
		match := listedFolder().FindStringSubmatch(strings.TrimRight(line, "\r"))
		switch {
		case match == nil:
		case match[2] == f.listed().Name:
			return otherFolder{}, nil
		case found.folder == "" && slices.Contains(f.folders(), path.Base(match[2])):
			folder := path.Join(path.Dir(defaultConfig), match[2])
			if there, err := p.Exists(folder + "/kustomization.yaml"); err != nil {
				return otherFolder{}, err
			} else if there {
				found = otherFolder{folder, i + 1, match[1] != ""}
			}
		}
	}
	return found, nil
}

// folders are the names that a feature's folder may have.
func (f Feature) folders() []string {
	if f == CertManager {
		return []string{string(f), "cert-manager"}
	}
	return []string{string(f)}
}

// requireNoOther refuses a feature that the project has in another folder: a second one would stand beside it, with
// names that the rest of the project does not know.
func (p *planner) requireNoOther(f Feature) error {
	other, err := p.other(f)
	if err != nil || other.folder == "" {
		return err
	}
	refused := &report.Error{
		What:  fmt.Sprintf("the project has %s of its own in %s, and deploys that", f, other.folder),
		Where: fmt.Sprintf("%s:%d", defaultConfig, other.line),
		Hint:  fmt.Sprintf("nothing was changed; a second one in config/%s would stand beside it: change what is in %s by hand", f, other.folder),
	}
	if other.off {
		refused.What = fmt.Sprintf("the project has %s of its own in %s, in a comment here", f, other.folder)
		refused.Hint = fmt.Sprintf("nothing was changed; a second one in config/%s would stand beside it, under names that the project's other files do not have. "+
			"By hand, take this line out of its comment, and all that belongs to it%s", f, p.belonging(f))
	}
	return refused
}

// belonging says what else is to be changed by hand for a feature, behind the words for all that belongs to it.
func (p *planner) belonging(f Feature) string {
	c, err := p.Find(defaultConfig)
	if err != nil {
		return ""
	}
	var waiting []int
	for _, s := range p.sections(f) {
		waiting = append(waiting, s.Waits(c.After())...)
	}
	slices.Sort(waiting)
	text := ""
	if waiting = slices.Compact(waiting); len(waiting) > 0 {
		var lines []string
		for _, line := range waiting {
			lines = append(lines, fmt.Sprintf("line %d", line))
		}
		text = ", such as what begins there at " + strings.Join(lines, ", ")
	}
	if f == CertManager {
		text += "; then take out what gives webhooks their certificate now"
	}
	return text
}

// leaveCertificate leaves it to the user that webhooks get a certificate, where the project has cert-manager of its
// own.
func (p *planner) leaveCertificate(other otherFolder) {
	if other.folder != "" {
		p.Leave(fmt.Sprintf("%s:%d: the project has cert-manager of its own in %s: see to it that the webhooks get a certificate, from there or from elsewhere", defaultConfig, other.line, other.folder))
	}
}

package layout

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
	"github.com/slipway-dev/slipway/project"
)

// A sharedSuite is a suite of webhooks whose kinds move to several packages. Each package gets a copy without the
// set-up of the other packages' kinds.
type sharedSuite struct {
	path       string
	partByStem map[*relocate.Part][]project.Resource
}

// noteSuite records the suite of webhooks, if its package is divided.
func (m *moving) noteSuite(rule layoutRule, p *relocate.Package, homes map[*relocate.Part][]project.Resource) {
	if rule.divided && len(p.Parts) > 1 {
		m.suites = append(m.suites, sharedSuite{path.Join(p.Dir, rule.suite), homes})
	}
}

// divideSuites removes from each copy the set-up of the other packages' kinds.
func (m *moving) divideSuites() error {
	for _, suite := range m.suites {
		for part := range suite.partByStem {
			target := path.Join(part.Dir, path.Base(suite.path))
			if found, err := m.Find(target); err != nil {
				return err
			} else if !found.There() {
				continue // the authors removed it
			}
			divide := func(_ string, src []byte) ([]byte, error) {
				return gofile.KeepFormat(target, src, m.suiteFor(suite, part, src)), nil
			}
			if err := m.editIfNeeded(target, divide); err != nil {
				return err
			}
		}
	}
	return nil
}

// suiteFor returns the suite's text for the kinds of one part. With a nil part it is the text for no kind at all.
func (m *moving) suiteFor(suite sharedSuite, part *relocate.Part, src []byte) []byte {
	needed := map[string]bool{}
	for _, r := range suite.partByStem[part] {
		for _, p := range newwebhook.SuitePieces(m.project, r)(src) {
			needed[p.ID()] = true
		}
	}
	for other, kinds := range suite.partByStem {
		if other == part {
			continue
		}
		for _, r := range kinds {
			for _, p := range slices.Backward(newwebhook.SuitePieces(m.project, r)(src)) {
				if !needed[p.ID()] {
					src, _ = p.Remove(src)
				}
			}
		}
	}
	return src
}

// sourceToCheck returns a file's text for the check of names. For a shared suite that is the text for no kind, since
// each copy has only its own kinds.
func (m *moving) sourceToCheck(file string) ([]byte, error) {
	c, err := m.Find(file)
	if err != nil {
		return nil, err
	}
	for _, suite := range m.suites {
		if suite.path == file {
			return m.suiteFor(suite, nil, c.After()), nil
		}
	}
	return c.After(), nil
}

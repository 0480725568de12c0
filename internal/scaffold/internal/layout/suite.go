package layout

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
	"github.com/slipway-dev/slipway/project"
)

// A sharedSuite is the test suite of webhooks whose kinds go to several packages: each of these gets the
// suite, without what it does for the others.
type sharedSuite struct {
	path  string
	homes map[*relocate.Part][]project.Resource
}

// noteSuite remembers the suite of a package of webhooks that is divided.
func (m *moving) noteSuite(rule layoutRule, p *relocate.Package, homes map[*relocate.Part][]project.Resource) {
	if rule.divided && len(p.Parts) > 1 {
		m.suites = append(m.suites, sharedSuite{path.Join(p.Dir, rule.suite), homes})
	}
}

// divideSuites takes out of each copy of a shared suite what it does for kinds of the others.
func (m *moving) divideSuites() error {
	for _, suite := range m.suites {
		for part := range suite.homes {
			target := path.Join(part.Dir, path.Base(suite.path))
			if found, err := m.Find(target); err != nil {
				return err
			} else if !found.There() {
				continue // its author removed it
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

// suiteFor is the text of a suite for the kinds of one part; without a part it is what remains
// when all are taken out, which is what can be wrong with it everywhere.
func (m *moving) suiteFor(suite sharedSuite, part *relocate.Part, src []byte) []byte {
	needed := map[string]bool{}
	for _, r := range suite.homes[part] {
		for _, p := range newwebhook.SuitePieces(m.project, r)(src) {
			needed[p.ID()] = true
		}
	}
	for other, kinds := range suite.homes {
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

// sourceToCheck is a file as its places after the move have it, as far as that matters for what it may
// name: a suite that is divided names nothing of any kind's.
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

package plan

import "github.com/slipway-dev/slipway/internal/release"

// MadeBy says which slipway plans. Files that bring slipway to other machines name that release then, so that a project
// is built alike everywhere; a slipway that is of none has them name the branch.
func (p *Plan) MadeBy(version string) {
	p.release = ""
	if release.IsVersion(version) {
		p.release = version
	}
}

// Release is the release of the slipway that plans, and "" for one that is of none.
func (p *Plan) Release() string { return p.release }

package undo

import (
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// takeListings takes what deploys a kustomization, where that goes or builds of nothing any more. Else it stays, be it
// the part's or not: without it, other objects would silently no longer be deployed.
func (u *undoing) takeListings() error {
	for _, p := range u.part.Pieces {
		if p.List == "" {
			continue
		}
		c, err := u.Find(p.List)
		if err != nil {
			return err
		}
		if c.There() && u.listsMore(c) {
			continue
		}
		if err := u.takePieces(p.Path, p.Of); err != nil {
			return err
		}
	}
	return nil
}

// listsMore reports whether a file is a kustomization that builds of other things than the part's files, once the
// part's lines are taken. Then it stays, whatever the part needs it for.
func (u *undoing) listsMore(c *plan.File) bool {
	return codebase.IsKustomization(c.Path()) && codebase.BuildsOfMore(c.Path(), c.After(), u.part.HasFile)
}

package generation

import (
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// reportLeftovers warns of CRDs whose kind is gone or that a recipe deletes, or deletes them with --prune. A CRD that a
// kustomization lists stays: that kustomization would not build without it.
func reportLeftovers(s *operation.Session, root string, plan regenerate.Plan, result generate.Result, g Generation) error {
	left, err := regenerate.Leftovers(plan, result.Files)
	if err != nil || len(left) == 0 {
		return err
	}
	config, err := s.Codebase(root).Config()
	if err != nil {
		return err
	}
	var unlisted []string
	for _, path := range left {
		name, why := regenerate.Relative(root, path), "but its kind no longer exists"
		if plan.Removes(path) {
			why = "and a recipe of the Makefile removes it"
		}
		if by := append(config.ListedBy(name), config.NamedBy(name)...); len(by) > 0 {
			s.Handler.Handle(report.Warning{Text: name + " is generated, " + why + "; it stays, since " + config.File(by[0]) + " lists it"})
			continue
		}
		unlisted = append(unlisted, path)
		if !g.Prune {
			s.Handler.Handle(report.Warning{Text: name + " is generated, " + why + "; slipway generate --prune deletes it"})
		}
	}
	if !g.Prune || len(unlisted) == 0 {
		return nil
	}
	if err := config.Unread(); err != nil {
		return &report.Error{What: "generated files that are left over stay, since not all kustomizations are known: one may list them", Where: regenerate.Relative(root, unlisted[0]), Err: err,
			Hint: "mend what cannot be read and run the command again, or delete the files by hand"}
	}
	if err := regenerate.Prune(plan, g.Outside, unlisted); err != nil {
		return err
	}
	for _, path := range unlisted {
		s.Handler.Handle(report.File{Path: regenerate.Relative(root, path), Action: report.Deleted})
	}
	return nil
}

package operation

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/ship"
)

const defaultKustomization = DefaultFolder + "/kustomization.yaml"

// refuseUnbuilt refuses a plan after which the usual kustomization does not build though it does now, in a project of
// another tool: its lines are switched as they are, and may depend on each other in ways that no feature knows of.
func refuseUnbuilt(ctx context.Context, root string, planned *scaffold.Plan) error {
	judged, err := isJudged(root, planned)
	if err != nil || !judged {
		return err
	}
	texts, err := plannedTexts(root, planned)
	if err != nil {
		return err
	}
	folder := within(root, DefaultFolder)
	_, broken := ship.Kustomization{Folder: folder, Generated: texts}.Build(ctx)
	if broken == nil {
		return nil
	}
	if _, err := ship.Build(ctx, folder); err != nil {
		return nil // which is not the plan's doing
	}
	return &report.Error{
		What: "after this edit, " + DefaultFolder + " would not build any more", Where: defaultKustomization, Err: broken,
		Hint: "nothing was changed; some lines of this file depend on those of the feature: change them by hand, all at once",
		Next: "slipway edit --help",
	}
}

// isJudged reports whether a plan is one to build: it changes the kustomization, and all that this lists is there.
func isJudged(root string, planned *scaffold.Plan) (bool, error) {
	changes := slices.ContainsFunc(planned.Changes(), func(f report.File) bool {
		return f.Path == defaultKustomization && f.Action == report.Updated
	})
	if !changes || scaffold.CanKeepCertificates(root) {
		return false, nil
	}
	return scaffold.AllThere(planned)
}

// plannedTexts are the files that a plan writes, by their absolute paths.
func plannedTexts(root string, planned *scaffold.Plan) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for _, change := range planned.Changes() {
		f, err := planned.Find(change.Path)
		if err != nil {
			return nil, err
		}
		if f.There() {
			texts[filepath.Join(root, filepath.FromSlash(change.Path))] = f.After()
		}
	}
	return texts, nil
}

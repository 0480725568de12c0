package projects

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// A Deletion describes what to remove of a kind.
type Deletion struct {
	scaffold.Deletion
	Change
}

// DeleteAPI removes a kind from the project, or a part of it.
func DeleteAPI(ctx context.Context, s *operation.Session, d Deletion) ([]report.File, error) {
	return delete(ctx, s, d.Change, func(root string) (*scaffold.Plan, error) { return scaffold.DeleteAPI(s.Folder(root), d.Deletion) })
}

// A WebhookDeletion names the webhooks of a kind to remove: all if none is set.
type WebhookDeletion struct {
	Deletion
	Defaulting, Validation, Conversion bool
}

// DeleteWebhook removes webhooks of a kind from the project.
func DeleteWebhook(ctx context.Context, s *operation.Session, d WebhookDeletion) ([]report.File, error) {
	webhooks := scaffold.WebhookDeletion{Options: d.Deletion.Deletion, Defaulting: d.Defaulting, Validation: d.Validation, Conversion: d.Conversion}
	return delete(ctx, s, d.Change, func(root string) (*scaffold.Plan, error) { return scaffold.DeleteWebhook(s.Folder(root), webhooks) })
}

// A VersionDeletion is a version of a kind to remove, and the one that the code uses then.
type VersionDeletion struct {
	scaffold.VersionDeletion
	Change
}

// DeleteVersion removes a version of a kind from the project.
func DeleteVersion(ctx context.Context, s *operation.Session, d VersionDeletion) ([]report.File, error) {
	return delete(ctx, s, d.Change, func(root string) (*scaffold.Plan, error) {
		planned, renamed, err := scaffold.DeleteVersion(s.Folder(root), d.VersionDeletion)
		if err == nil && len(renamed) > 0 {
			err = renameUses(ctx, s, root, planned, renamed)
		}
		return planned, err
	})
}

func delete(ctx context.Context, s *operation.Session, c Change, plan func(root string) (*scaffold.Plan, error)) ([]report.File, error) {
	root, err := s.ProjectRoot()
	if err != nil {
		return nil, err
	}
	var made *scaffold.Plan
	changes, err := MakeChange(ctx, s, root, c.Preview, func() (*scaffold.Plan, error) {
		made, err = plan(root)
		return unlessBroken(ctx, s, root, c.NoTypecheck, made, err)
	}, func() error { return afterDelete(ctx, s, root, c, made) })
	return noteGenerating(s, root, c, made, changes, err)
}

// afterDelete generates for the remaining code and reports the files that stayed.
func afterDelete(ctx context.Context, s *operation.Session, root string, c Change, made *scaffold.Plan) error {
	if c.Generate {
		if err := generation.GenerateAfter(ctx, s, root, made); err != nil {
			return err
		}
	}
	kept := 0
	for _, file := range made.Changes() {
		if file.Why != "" && file.Action != report.Created {
			kept++
		}
	}
	if kept > 0 {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("%s kept, in whole or in part; the reasons are listed above", operation.Count(kept, "file"))})
	}
	return nil
}

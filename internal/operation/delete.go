package operation

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// A Deletion is which kind, or what of it, to take out of a project.
type Deletion struct {
	scaffold.Deletion
	Change
}

// DeleteAPI takes a kind out of the project.
func (s *Session) DeleteAPI(ctx context.Context, d Deletion) error {
	return s.delete(ctx, d.Change, func(root string) (*scaffold.Plan, error) { return scaffold.DeleteAPI(s.folder(root), d.Deletion) })
}

// A WebhookDeletion is which webhooks of a kind to take out of a project: all when it names none.
type WebhookDeletion struct {
	Deletion
	Defaulting, Validation, Conversion bool
}

// DeleteWebhook takes webhooks of a kind out of the project.
func (s *Session) DeleteWebhook(ctx context.Context, d WebhookDeletion) error {
	webhooks := scaffold.WebhookDeletion{Options: d.Deletion.Deletion, Defaulting: d.Defaulting, Validation: d.Validation, Conversion: d.Conversion}
	return s.delete(ctx, d.Change, func(root string) (*scaffold.Plan, error) { return scaffold.DeleteWebhook(s.folder(root), webhooks) })
}

// delete makes the plan of a deletion and does what follows from it.
func (s *Session) delete(ctx context.Context, c Change, plan func(root string) (*scaffold.Plan, error)) error {
	root, err := s.ProjectRoot()
	if err != nil {
		return err
	}
	var made *scaffold.Plan
	err = s.change(ctx, root, c.Preview, func() (*scaffold.Plan, error) {
		made, err = plan(root)
		return s.unlessBroken(ctx, root, c.NoTypecheck, made, err)
	}, func() error { return s.afterDelete(ctx, root, c, made) })
	return s.noteGenerating(root, c, made, err)
}

// afterDelete generates what follows from the code that is left, and says what stayed.
func (s *Session) afterDelete(ctx context.Context, root string, c Change, made *scaffold.Plan) error {
	if c.Generate {
		if err := s.generateAfter(ctx, root, made); err != nil {
			return err
		}
	}
	kept := 0
	for _, file := range made.Changes() {
		if file.Why != "" {
			kept++
		}
	}
	if kept > 0 {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("%s kept, in whole or in part; the reasons are listed above", count(kept, "file"))})
	}
	return nil
}

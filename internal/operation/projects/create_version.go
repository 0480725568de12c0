package projects

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// A Version is a version of a kind to add to a project, with the types of another one.
type Version struct {
	scaffold.Version
	Change
}

// CreateVersion adds a version to the project.
func CreateVersion(ctx context.Context, s *operation.Session, v Version) ([]report.File, error) {
	root, err := s.ProjectRoot()
	if err != nil {
		return nil, err
	}
	var planned *scaffold.Plan
	changes, err := MakeChange(ctx, s, root, v.Preview, func() (*scaffold.Plan, error) {
		var renamed []scaffold.RenamedField
		if planned, renamed, err = scaffold.CreateVersion(s.Folder(root), v.Version); err == nil {
			err = requireGenerator(s, root, planned)
		}
		if err == nil && len(renamed) > 0 {
			err = renameUses(ctx, s, root, planned, renamed)
		}
		return unlessBroken(ctx, s, root, v.NoTypecheck, planned, err)
	}, func() error { return afterCreateVersion(ctx, s, root, v, planned) })
	return noteGenerating(s, root, v.Change, planned, changes, err)
}

// mostRounds bounds how often the uses of renamed fields are looked for: the mistakes of a package may hide those of
// others.
const mostRounds = 10

// renameUses renames the uses of fields in a plan. Those that cannot be found are left to the check of the plan.
func renameUses(ctx context.Context, s *operation.Session, root string, planned *scaffold.Plan, renamed []scaffold.RenamedField) error {
	for range mostRounds {
		verdict, err := typechecked(ctx, s, root, planned)
		if err != nil {
			return err
		}
		if len(verdict.Unknown) > 0 {
			return &report.Error{What: "the uses of the renamed fields cannot be found, since the code cannot be checked", Where: "--rename", Err: errors.New(verdict.Unknown[0]),
				Hint: "nothing was changed; compile the project and its tests once, then run the command again", Next: "go test -run=- ./..."}
		}
		var places []report.Position
		for _, m := range verdict.Mistakes {
			places = append(places, m.Position)
		}
		if n, err := scaffold.RenameUses(planned, renamed, places); n == 0 || err != nil {
			return err
		}
	}
	return nil
}

// afterCreateVersion generates for the new version and reports the next step.
func afterCreateVersion(ctx context.Context, s *operation.Session, root string, v Version, planned *scaffold.Plan) error {
	if v.Generate {
		if err := filterWarnings(s, root, planned, func(s *operation.Session) error { return generation.GenerateAfter(ctx, s, root, planned) }); err != nil {
			return err
		}
	}
	if v.Storage {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("Objects stay stored as %s until they are written. Once all clusters have the new version, slipway migrate %s stores all of them as %s.", v.From, v.Kind, v.Version.Version)})
	}
	for _, c := range planned.Changes() {
		if c.Action == report.Created && strings.HasSuffix(c.Path, "_"+v.From+"_webhook.go") {
			s.Handler.Handle(report.Note{Text: "The webhooks have other paths now. The manager also answers at the old ones, so that calls work while managers of both releases run: " + c.Path + " says when it may go."})
		}
	}
	s.Handler.Handle(report.Note{Text: fmt.Sprintf("Next: change the types of %s, convert what has no counterpart in %s, then run %s", v.Version.Version, v.From, thenTest(s, root))})
	return nil
}

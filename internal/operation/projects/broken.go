package projects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/typecheck"
)

// unlessBroken returns a plan, with an error if it would break code that compiles or a kustomization that builds.
// Unchecked skips the compilation.
func unlessBroken(ctx context.Context, s *operation.Session, root string, unchecked bool, planned *scaffold.Plan, err error) (*scaffold.Plan, error) {
	if err != nil || planned.Empty() {
		return planned, err
	}
	if err := refuseUnbuilt(ctx, s, root, planned); err != nil || unchecked {
		return planned, err
	}
	return planned, refuseUncompiled(ctx, s, root, planned)
}

// unlessTestsBroken is [unlessBroken] for a plan with tests. If only these would not compile, it plans again without
// them and passes the reason to plan.
func unlessTestsBroken(ctx context.Context, s *operation.Session, root string, unchecked bool, plan func(untested string) (*scaffold.Plan, error)) (*scaffold.Plan, error) {
	planned, err := plan("")
	planned, err = unlessBroken(ctx, s, root, unchecked, planned, err)
	broken, is := errors.AsType[*uncompiledError](err)
	if !is || slices.ContainsFunc(broken.mistakes, func(m typecheck.Mistake) bool { return !strings.HasSuffix(m.Position.File, "_test.go") }) {
		return planned, err
	}
	planned, err = plan(fmt.Sprintf("%s: %s", broken.mistakes[0].Position, broken.mistakes[0].Message))
	return unlessBroken(ctx, s, root, unchecked, planned, err)
}

// refuseUncompiled refuses a plan that would break packages which compile now.
func refuseUncompiled(ctx context.Context, s *operation.Session, root string, planned *scaffold.Plan) error {
	verdict, err := typechecked(ctx, s, root, planned)
	switch {
	case err != nil:
		return err
	case len(verdict.Mistakes) > 0:
		return uncompiled(verdict.Mistakes)
	case len(verdict.Unknown) > 0:
		s.Handler.Handle(report.Note{Text: "not type-checked: " + verdict.Unknown[0]})
	}
	return nil
}

// typechecked checks whether packages that compile now would compile after a plan.
func typechecked(ctx context.Context, s *operation.Session, root string, planned *scaffold.Plan) (typecheck.Verdict, error) {
	changed := planned.Changed()
	defer s.Collector.Patiently()()
	s.Handler.Handle(report.Step{Name: "checking that the code still compiles"})
	before := planned.Before()
	change := generation.Typechecked(s, root, before)
	change.After, change.Files = fileview.Over(before, changed), slices.Sorted(maps.Keys(changed))
	return change.Check(ctx)
}

// uncompiledError is the cause of a refused plan.
type uncompiledError struct{ mistakes []typecheck.Mistake }

func (e *uncompiledError) Error() string { return e.mistakes[0].Message }

// IsUncompiled reports whether an error is the refusal of a change after which the code would not compile.
func IsUncompiled(err error) bool {
	_, is := errors.AsType[*uncompiledError](err)
	return is
}

// mostMistakes bounds how many mistakes are listed.
const mostMistakes = 10

func uncompiled(mistakes []typecheck.Mistake) error {
	refusal := &report.Error{
		Class: report.BadProject,
		What:  "after this change, the code would not compile any more", Where: mistakes[0].Position.String(), Err: &uncompiledError{mistakes},
		Hint: "nothing was changed; with --no-typecheck it is written all the same, for you to correct",
	}
	for _, m := range mistakes[1:min(len(mistakes), mostMistakes)] {
		refusal.Hint += fmt.Sprintf("\n%s: %s", m.Position, m.Message)
	}
	return refusal
}

// StandIn stands in for a compiler if args ask for that; see [typecheck.RunTool]. Is is false otherwise.
func StandIn(args []string, stdout, stderr io.Writer) (code int, is bool) {
	if len(args) == 0 || args[0] != typecheck.ToolWord {
		return 0, false
	}
	return typecheck.RunTool(args[1:], stdout, stderr), true
}

package operation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/cachefolder"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/typecheck"
)

// unlessBroken is a plan, unless it would break what works: Go code that compiles, or a kustomization that builds.
func (s *Session) unlessBroken(ctx context.Context, root string, unchecked bool, planned *scaffold.Plan, err error) (*scaffold.Plan, error) {
	if err != nil || planned.Empty() {
		return planned, err
	}
	if err := s.refuseUnbuilt(ctx, root, planned); err != nil || unchecked {
		return planned, err
	}
	return planned, s.refuseUncompiled(ctx, root, planned)
}

// unlessTestsBroken is [Session.unlessBroken] for a plan with tests, which are left out where they alone would not
// compile: plan gets the reason.
func (s *Session) unlessTestsBroken(ctx context.Context, root string, unchecked bool, plan func(untested string) (*scaffold.Plan, error)) (*scaffold.Plan, error) {
	planned, err := plan("")
	planned, err = s.unlessBroken(ctx, root, unchecked, planned, err)
	broken, is := errors.AsType[*uncompiledError](err)
	if !is || slices.ContainsFunc(broken.mistakes, func(m typecheck.Mistake) bool { return !strings.HasSuffix(m.Position.File, "_test.go") }) {
		return planned, err
	}
	planned, err = plan(fmt.Sprintf("%s: %s", broken.mistakes[0].Position, broken.mistakes[0].Message))
	return s.unlessBroken(ctx, root, unchecked, planned, err)
}

// refuseUncompiled refuses a plan after which packages that compile now would not.
func (s *Session) refuseUncompiled(ctx context.Context, root string, planned *scaffold.Plan) error {
	changed := planned.Changed()
	defer s.Collector.Patiently()()
	s.Handler.Handle(report.Step{Name: "checking that the code still compiles"})
	before := planned.Code().View()
	change := s.typechecked(root, before)
	change.After, change.Files = fileview.Over(before, changed), slices.Sorted(maps.Keys(changed))
	verdict, err := change.Check(ctx)
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

// typechecked is the project as a view has it, without a change.
func (s *Session) typechecked(root string, view fileview.View) typecheck.Change {
	change := typecheck.Change{Root: root, Before: view, After: view, Environ: s.Environ}
	if cache, err := cachefolder.Root(s.Getenv); err == nil {
		change.Cache = filepath.Join(cache, "exports")
	}
	if s.Program != "" {
		change.Tool = []string{s.Program, typecheck.ToolWord}
	}
	return change
}

// uncompiledError is that a plan makes mistakes.
type uncompiledError struct{ mistakes []typecheck.Mistake }

func (e *uncompiledError) Error() string { return e.mistakes[0].Message }

// IsUncompiled reports whether a change was refused since the code would not compile after it.
func IsUncompiled(err error) bool {
	_, is := errors.AsType[*uncompiledError](err)
	return is
}

// mostMistakes bounds how many are listed.
const mostMistakes = 10

func uncompiled(mistakes []typecheck.Mistake) error {
	refusal := &report.Error{
		What: "after this change, the code would not compile any more", Where: mistakes[0].Position.String(), Err: &uncompiledError{mistakes},
		Hint: "nothing was changed; with --no-typecheck it is written all the same, for you to correct",
	}
	for _, m := range mistakes[1:min(len(mistakes), mostMistakes)] {
		refusal.Hint += fmt.Sprintf("\n%s: %s", m.Position, m.Message)
	}
	return refusal
}

// StandIn does the work of the program if it was called in the place of a compiler; see [typecheck.RunTool].
func StandIn(args []string, stdout, stderr io.Writer) (code int, is bool) {
	if len(args) == 0 || args[0] != typecheck.ToolWord {
		return 0, false
	}
	return typecheck.RunTool(args[1:], stdout, stderr), true
}

package operation

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// generateOnly is generate for those who do not check the CRDs, since they go to an API server now or others follow:
// the next `slipway generate` does it. Where make does more to generated files than slipway would, they are left alone.
func (s *Session) generateOnly(ctx context.Context, root string) error {
	return s.generateAfter(ctx, root, nil)
}

// generateAfter is generateOnly after a change of the code. Where generated files are left alone, those are made
// without which the changed packages do not compile.
func (s *Session) generateAfter(ctx context.Context, root string, change *scaffold.Plan) error {
	plan, findings, err := s.plan(root)
	if err != nil {
		return err
	}
	if plan.Partial() {
		apart, err := s.generateMethods(ctx, root, plan.Methods(changedPackages(root, change)))
		if err == nil {
			s.reportLeft(root, plan, findings, apart)
		}
		return err
	}
	_, result, err := s.generateWith(ctx, root, Generation{})
	if err != nil || len(s.definitions(root, result).list) == 0 {
		return err
	}
	return result.Forget()
}

// generateMethods makes the methods of changed packages. Apart names them for a sentence about what is left alone.
func (s *Session) generateMethods(ctx context.Context, root string, methods regenerate.Plan) (apart string, err error) {
	if methods.Empty() {
		return "", nil
	}
	result, err := s.runPlan(ctx, root, methods, generate.Options{Cache: s.runsFolder()})
	if err != nil {
		return "", err
	}
	s.reportRun(root, result)
	return " other than methods", nil
}

// changedPackages are the folders, with slashes, in which a change leaves Go code that is not generated.
func changedPackages(root string, change *scaffold.Plan) (folders []string) {
	if change == nil {
		return nil
	}
	for _, file := range change.Changes() {
		dir := path.Dir(file.Path)
		if path.Ext(file.Path) != ".go" || slices.Contains(folders, dir) {
			continue
		}
		sources, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
		written := func(name string) bool {
			base := filepath.Base(name)
			return !strings.HasPrefix(base, "zz_generated.") && !strings.HasSuffix(base, "_test.go")
		}
		if err == nil && slices.ContainsFunc(sources, written) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// leavesGenerated reports whether generated files are the Makefile's affair, and reports why.
func (s *Session) leavesGenerated(root string) (bool, error) {
	plan, findings, err := s.plan(root)
	if err != nil || !plan.Partial() {
		return false, err
	}
	s.reportLeft(root, plan, findings, "")
	return true, nil
}

// reportLeft reports why generated files, apart from some, are left alone.
func (s *Session) reportLeft(root string, plan regenerate.Plan, findings []report.Finding, apart string) {
	s.reportFindings(root, findings)
	text := "Generated files" + apart + " stay as they are: the Makefile changes them further than slipway generate does"
	if command := plan.MakeCommand(); command != "" {
		text += "; to update them, run " + command
	}
	s.Handler.Handle(report.Note{Text: text + "."})
}

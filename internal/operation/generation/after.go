package generation

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// GenerateOnly is Generate for those who do not check the CRDs, since they go to an API server now or others follow:
// the next `slipway generate` does it. A project in which nothing says what to generate keeps its files.
func GenerateOnly(ctx context.Context, s *operation.Session, root string) error {
	return generateFor(ctx, s, root, nil, Generation{})
}

// GenerateAfter is GenerateOnly after a change of the code. Of files that a recipe changes further, those are made
// without which the changed packages do not compile.
func GenerateAfter(ctx context.Context, s *operation.Session, root string, change *scaffold.Plan) error {
	return generateFor(ctx, s, root, change, Generation{})
}

func generateFor(ctx context.Context, s *operation.Session, root string, change *scaffold.Plan, g Generation) error {
	plan, findings, err := plan(s, root)
	if err != nil {
		return err
	}
	if plan.Refusal() != nil {
		reportUnfollowed(s, root, plan, findings)
		return nil
	}
	_, result, err := generateWith(ctx, s, root, g)
	if err != nil {
		return err
	}
	folders := slices.DeleteFunc(changedPackages(root, change), func(folder string) bool {
		return !slices.ContainsFunc(result.Left, func(file string) bool { return path.Dir(regenerate.Relative(root, file)) == folder })
	})
	if err := generateMethods(ctx, s, root, plan.Methods(folders)); err != nil || len(definitionsOf(s, root, result).list) == 0 {
		return err
	}
	return result.Forget()
}

// generateMethods makes the methods of changed packages.
func generateMethods(ctx context.Context, s *operation.Session, root string, methods regenerate.Plan) error {
	if methods.Empty() {
		return nil
	}
	result, err := RunPlan(ctx, s, root, methods, generate.Options{Cache: RunsFolder(s)})
	if err == nil {
		ReportRun(s, root, result)
	}
	return err
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

// reportUnfollowed reports why generated files are left alone.
func reportUnfollowed(s *operation.Session, root string, plan regenerate.Plan, findings []report.Finding) {
	reportFindings(s, root, findings)
	text := "Generated files stay as they are"
	if refusal, ok := errors.AsType[*report.Error](plan.Refusal()); ok {
		text += ": " + refusal.What
	}
	if command := plan.Command(); command != "" {
		text += "; to update them, run " + command
	}
	s.Handler.Handle(report.Note{Text: text + "."})
}

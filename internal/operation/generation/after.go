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

// GenerateOnly is [Generate] without a check of the CRDs: an API server will check them now, or the next `slipway
// generate` does. It leaves a project alone in which nothing says what to generate.
func GenerateOnly(ctx context.Context, s *operation.Session, root string) error {
	_, err := generateFor(ctx, s, root, nil, Generation{})
	return err
}

// GenerateAfter is [GenerateOnly] after a change of the code. It also generates methods in files that the project's
// recipes edit, if the changed packages would not compile without them.
func GenerateAfter(ctx context.Context, s *operation.Session, root string, change *scaffold.Plan) error {
	_, err := generateFor(ctx, s, root, change, Generation{})
	return err
}

func generateFor(ctx context.Context, s *operation.Session, root string, change *scaffold.Plan, g Generation) (generate.Result, error) {
	plan, findings, err := plan(s, root, "")
	if err != nil {
		return generate.Result{}, err
	}
	if plan.Refusal() != nil {
		reportUnfollowed(s, root, plan, findings)
		return generate.Result{}, nil
	}
	_, result, err := generateWith(ctx, s, root, g)
	if err != nil {
		return result, err
	}
	folders := slices.DeleteFunc(changedPackages(root, change), func(folder string) bool {
		return !slices.ContainsFunc(result.Left, func(file string) bool { return path.Dir(regenerate.Relative(root, file)) == folder })
	})
	if err := generateMethods(ctx, s, root, plan.Methods(folders)); err != nil || len(definitionsOf(s, root, result).list) == 0 {
		return result, err
	}
	return result, result.Forget()
}

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

// changedPackages returns the folders, slash-separated, in which a change touches Go files and leaves hand-written
// ones.
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

// reportUnfollowed reports why the generated files stay as they are.
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

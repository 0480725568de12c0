package generation

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// Ungenerated adds advice to the error of a kustomization that does not build: if a missing file would be generated,
// the command that generates it.
func Ungenerated(ctx context.Context, s *operation.Session, root string, err error) error {
	known, ok := errors.AsType[*report.Error](err)
	if ok && known.Next == "" && errors.Is(err, fs.ErrNotExist) && IsGenerated(ctx, s, root, known.Where) {
		known.Hint, known.Next = "a kustomization lists this, and it is not generated yet", Command(s, root)
	}
	return err
}

// IsGenerated reports whether the project's generators would write the file or folder path. It reports false if the
// code has mistakes.
func IsGenerated(ctx context.Context, s *operation.Session, root, path string) bool {
	plan, _, err := regenerate.PlanFor(root, s.Codebase(root))
	if err != nil {
		return false
	}
	result, err := plan.Run(ctx, generate.Options{DryRun: true})
	if err != nil {
		return false
	}
	name := inProject(root, path)
	made := slices.Clone(result.Left)
	for _, f := range result.Files {
		made = append(made, f.Path)
	}
	return slices.ContainsFunc(made, func(made string) bool {
		file := inProject(root, made)
		return file == name || strings.HasPrefix(file, name+"/")
	})
}

// inProject returns a path relative to the project, also if only one of the two has links resolved.
func inProject(root, path string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		if rel := regenerate.Relative(real, path); rel != path {
			return rel
		}
	}
	return regenerate.Relative(root, path)
}

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

// Ungenerated is the error of a kustomization that does not build, with the advice to generate where what is missing is
// made by the project's generators.
func Ungenerated(ctx context.Context, s *operation.Session, root string, err error) error {
	known, ok := errors.AsType[*report.Error](err)
	if ok && known.Next == "" && errors.Is(err, fs.ErrNotExist) && IsGenerated(ctx, s, root, known.Where) {
		known.Hint, known.Next = "a kustomization lists this, and it is not generated yet", Command(s, root)
	}
	return err
}

// IsGenerated reports whether the project's generators make a file, or files in a folder. Where the code has mistakes
// that is unknown, and it reports false.
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

// inProject is a path in the project, which may lead there by the folder that root is a link to.
func inProject(root, path string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		if rel := regenerate.Relative(real, path); rel != path {
			return rel
		}
	}
	return regenerate.Relative(root, path)
}

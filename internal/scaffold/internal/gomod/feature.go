package gomod

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
)

// PinFeature plans the requirements and checksums that a feature's code needs, in the versions of the feature's
// templates. Module is the one that decides when they are no longer needed; see [Use].
func PinFeature(p *plan.Plan, feature, module string) error {
	before, err := p.Find("go.mod")
	if err != nil {
		return err
	}
	src := before.After()
	if err := p.Insert("go.mod", plan.These(featureModules{feature, module})); err != nil {
		return err
	}
	if after, err := p.Find("go.mod"); err == nil && !bytes.Equal(src, after.After()) && hasOthers(src) {
		p.Leave("go.mod requires more modules than a new project, and " + module + " may need newer versions of them: run go mod tidy")
	}
	return p.Insert("go.sum", plan.These(featureSums{feature, module}))
}

// hasOthers reports whether a go.mod requires modules that a new project does not.
func hasOthers(src []byte) bool {
	file, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		return false
	}
	_, fresh, err := pinnedModules("go.mod", "example.com/any")
	return err == nil && slices.ContainsFunc(file.Require, func(r *modfile.Require) bool {
		return !slices.ContainsFunc(fresh.Require, func(other *modfile.Require) bool { return other.Mod.Path == r.Mod.Path })
	})
}

// A Use is a piece that a project needs while its code imports a module.
type Use interface{ Imported() string }

type featureModules struct{ feature, module string }

// ID implements plan.Piece.
func (f featureModules) ID() string { return "modules of " + f.feature }

// Imported implements [Use].
func (f featureModules) Imported() string { return f.module }

// Insert implements plan.Piece.
func (f featureModules) Insert(_ string, src []byte) ([]byte, error) {
	file, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "go.mod cannot be read", Where: "go.mod:1", Hint: "nothing was changed; correct it and run the command again", Err: err}
	}
	_, pinned, err := pinnedModules("modules/"+f.feature+".mod", "")
	if err != nil {
		return nil, err
	}
	if err := (&File{file}).raise(pinned); err != nil {
		return nil, err
	}
	return separated(file)
}

// Remove removes the requirements if a new project has all others, which are known not to need them. In other projects
// `go mod tidy` decides.
func (f featureModules) Remove(src []byte) ([]byte, int) {
	file, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		return src, 0
	}
	_, pinned, err := pinnedModules("modules/"+f.feature+".mod", "")
	if err != nil {
		return src, 0
	}
	_, fresh, err := pinnedModules("go.mod", "example.com/any")
	if err != nil {
		return src, 0
	}
	var own []string
	for _, r := range file.Require {
		switch {
		case requires(fresh, r):
		case requires(pinned, r):
			own = append(own, r.Mod.Path)
		default:
			return src, 0
		}
	}
	for _, path := range own {
		if err := file.DropRequire(path); err != nil {
			return src, 0
		}
	}
	file.Cleanup()
	out, err := separated(file)
	if err != nil {
		return src, 0
	}
	return out, 0
}

// requires reports whether a go.mod has the same requirement, direct or indirect.
func requires(file *modfile.File, r *modfile.Require) bool {
	return slices.ContainsFunc(file.Require, func(other *modfile.Require) bool { return other.Mod == r.Mod })
}

type featureSums struct{ feature, module string }

// ID implements plan.Piece.
func (f featureSums) ID() string { return "checksums of " + f.feature }

// Imported implements [Use].
func (f featureSums) Imported() string { return f.module }

// Insert implements plan.Piece.
func (f featureSums) Insert(_ string, src []byte) ([]byte, error) {
	pinned, err := templates.Raw("modules/" + f.feature + ".sum")
	if err != nil {
		return nil, fmt.Errorf("checksums of %s: %w", f.feature, err)
	}
	return mergedSums(pinned, src), nil
}

// Remove removes the checksums if a new project has all other lines.
func (f featureSums) Remove(src []byte) ([]byte, int) {
	pinned, err := templates.Raw("modules/" + f.feature + ".sum")
	if err != nil {
		return src, 0
	}
	fresh, err := templates.Raw("go.sum")
	if err != nil {
		return src, 0
	}
	var rest []byte
	for line := range bytes.Lines(src) {
		switch {
		case bytes.Contains(fresh, line):
			rest = append(rest, line...)
		case !bytes.Contains(pinned, line):
			return src, 0
		}
	}
	return rest, 0
}

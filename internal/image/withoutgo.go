package image

import (
	"cmp"
	"context"
	"maps"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image/compile"
	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcedate"
)

// onTop is the name of the image that one without Go programs is put on top of; "" is none.
func (b *builder) onTop() (string, error) {
	name := cmp.Or(b.Base, b.manager.Recipe.Base)
	switch name {
	case "":
		return "", &report.Error{What: "FROM names no image", Where: b.manager.File, Hint: "give an ARG in it a value, with --build-arg NAME=value", Code: report.UsageCode}
	case "scratch":
		return "", nil
	}
	return name, nil
}

// ofFiles builds the image of one platform that has no Go programs: files of the project on top of the base.
func (b *builder) ofFiles(ctx context.Context, p compile.Platform) (v1.Image, error) {
	begin := time.Now()
	created, set, err := sourcedate.Read(b.getenv)
	if err != nil {
		return nil, err
	}
	if !set {
		created = time.Unix(0, 0).UTC()
	}
	base := pack.Scratch()
	if b.base != nil {
		if base, err = b.pulled(ctx, p); err != nil {
			return nil, err
		}
	}
	file, err := base.ConfigFile()
	if err != nil {
		return nil, err
	}
	on, err := b.manager.On(file.Config.Env, file.Config.WorkingDir)
	if err != nil {
		return nil, err
	}
	spec := inherited(file.Config, on)
	spec.Platform, spec.Created = platform(p), created
	maps.Copy(spec.Labels, b.Labels)
	if b.base != nil {
		if err := nameBase(base, b.base, spec.Labels); err != nil {
			return nil, err
		}
	}
	var parts []pack.Part
	if files, err := b.files(on, created); err != nil {
		return nil, err
	} else if files != nil {
		parts = append(parts, pack.Part{Layer: files, By: "files of the project"})
	}
	img, err := pack.Image(base, spec, parts...)
	if err == nil {
		b.step("packed the image for "+p.String(), begin)
	}
	return img, err
}

// inherited is what an image says on top of a base, by its Dockerfile.
func inherited(base v1.Config, m compile.Manager) pack.Spec {
	recipe := m.Recipe
	s := pack.Spec{User: cmp.Or(recipe.User, base.User), Workdir: recipe.Workdir, Volumes: recipe.Volumes, StopSignal: recipe.StopSignal,
		Entrypoint: base.Entrypoint, Command: base.Cmd, Env: recipe.Env, Labels: map[string]string{}}
	if recipe.Entrypoint != nil {
		s.Entrypoint, s.Command = recipe.Entrypoint, nil // as container engines have it
	}
	if recipe.Command != nil {
		s.Command = recipe.Command
	}
	maps.Copy(s.Labels, recipe.Labels)
	return s
}

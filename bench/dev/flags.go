package main

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const (
	builtImage quantity = "go build with the flags of images"
	builtPlain quantity = "go build without flags"
	builtBare  quantity = "go build with the flags of images, without symbols"

	imageAfterLoop quantity = "image of what slipway dev has built"
	imageAlone     quantity = "image of a change that was not built"

	compiledAfterImage quantity = "packages after the image"
	compiledAlone      quantity = "packages of a change"
)

// bareFlags also leave out the table of symbols, which the linker writes for debuggers.
var bareFlags = append(slices.Clone(imageFlags), "-ldflags=-s -w")

// flags compares builds of a change with the flags of images, without DWARF, with builds without flags.
func flags(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	s, err := b.rounds("flags", func(s series) error {
		for _, c := range []struct {
			what  quantity
			flags []string
		}{{builtImage, imageFlags}, {builtPlain, nil}, {builtBare, bareFlags}} {
			took, err := b.buildChange(ctx, c.flags...)
			if err != nil {
				return err
			}
			s.add(c.what, took)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []sidebyside.Figure{
		s.beside("go build of a change with the flags of images, beside one without flags", builtImage, builtPlain),
		s.beside("the same without a table of symbols (-s -w), beside one without flags", builtBare, builtPlain),
	}, nil
}

// image measures that slipway dev and slipway image build use each other's compiled packages.
func image(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	s, err := b.rounds("image", func(s series) error {
		if err := b.saveLoop(ctx, series{}); err != nil {
			return err
		}
		if err := b.imageBuild(ctx, imageAfterLoop, s); err != nil {
			return err
		}
		if _, _, err := b.saved(b.loop); err != nil {
			return err
		}
		if err := b.imageBuild(ctx, imageAlone, s); err != nil {
			return err
		}
		if err := b.countCompiled(ctx, compiledAfterImage, s); err != nil {
			return err
		}
		if _, _, err := b.saved(b.loop); err != nil {
			return err
		}
		return b.countCompiled(ctx, compiledAlone, s)
	})
	if err != nil {
		return nil, err
	}
	packages := s.beside("packages that slipway dev compiles of a change of which an image was built, beside one of which none was", compiledAfterImage, compiledAlone)
	packages.Unit = "packages"
	return []sidebyside.Figure{
		s.beside("slipway image build of a change that slipway dev has built, beside one that was not built", imageAfterLoop, imageAlone), packages,
	}, nil
}

func (b *bench) imageBuild(ctx context.Context, what quantity, s series) error {
	begin := time.Now()
	if err := b.run(ctx, string(b.loop), "image", "build", "-t", "op:v1"); err != nil {
		return err
	}
	s.add(what, time.Since(begin))
	return nil
}

// countCompiled counts the packages that go build compiles as slipway dev does.
func (b *bench) countCompiled(ctx context.Context, what quantity, s series) error {
	cmd := b.goBuild(ctx, b.loop, append([]string{"-v"}, imageFlags...)...)
	out, err := cmd.CombinedOutput() // with -v their names
	if err != nil {
		return err
	}
	s[what] = append(s[what], float64(bytes.Count(out, []byte("\n"))))
	return nil
}

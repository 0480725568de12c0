package assemble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	names "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/release/internal/container"
	"github.com/slipway-dev/slipway/release/internal/goinstall"
	"github.com/slipway-dev/slipway/release/internal/homebrew"
	"github.com/slipway-dev/slipway/release/internal/npm"
	"github.com/slipway-dev/slipway/release/internal/record"
)

// npmRoot packs the npm package that users install.
func (m *maker) npmRoot(ctx context.Context) error {
	licence, err := m.text("LICENSE")
	if err != nil {
		return err
	}
	pkg, err := npm.Root(m.Version, m.platforms(), licence)
	if err != nil {
		return err
	}
	return m.npmPackage(ctx, record.Key(m.platforms()), pkg)
}

const formulaName = "slipway.rb"

// formula writes the formula of Homebrew. A part of a release may be without a platform of Homebrew and has none then.
func (m *maker) formula(ctx context.Context) error {
	text, err := homebrew.Formula(m.Version, m.sums)
	if m.narrowed() && errors.Is(err, homebrew.ErrIncomplete) {
		return nil
	}
	if err != nil {
		return err
	}
	return m.do(ctx, string(text), formulaName, func(_ context.Context, file string) error { return os.WriteFile(file, text, 0o644) })
}

// image writes the container image of the platforms of Linux.
func (m *maker) image(ctx context.Context) error {
	img := container.Image{Version: m.Version, Commit: m.commit.Hash, Date: m.commit.Date}
	var inputs []any
	for _, p := range m.platforms() {
		if p[0] != "linux" {
			continue
		}
		one := container.Platform{Arch: p[1]}
		for _, b := range m.built[p] {
			one.Programs = append(one.Programs, container.Program{Name: b.name, Path: b.path})
		}
		img.Platforms = append(img.Platforms, one)
		inputs = append(inputs, p, m.inputs(p))
	}
	if len(img.Platforms) == 0 {
		return nil
	}
	return m.do(ctx, record.Key(inputs...), imageName(m.Version), func(ctx context.Context, file string) (err error) {
		img.Temp = filepath.Dir(file)
		if img.Goroot, err = goinstall.Goroot(ctx); err != nil {
			return err
		}
		return img.Save(ctx, file)
	})
}

// publicKey writes the public key, if there is one.
func (m *maker) publicKey(ctx context.Context) error {
	if m.PublicKey == nil {
		return nil
	}
	text, err := keyText(m.PublicKey)
	if err != nil {
		return err
	}
	return m.do(ctx, string(text), KeyName, func(_ context.Context, file string) error { return os.WriteFile(file, text, 0o644) })
}

// tidy removes what other runs left: files of the folder that are not of this release, and the modules, which the next
// run unpacks again.
func (m *maker) tidy() error {
	found, err := os.ReadDir(m.dist)
	if err != nil {
		return err
	}
	for _, f := range found {
		if _, ours := m.sums[f.Name()]; !ours {
			m.Handler.Handle(report.File{Path: filepath.Join(m.dist, f.Name()), Action: report.Deleted, Why: "it is not part of this release"})
			err = errors.Join(err, os.RemoveAll(filepath.Join(m.dist, f.Name())))
		}
	}
	return errors.Join(err, os.RemoveAll(m.compiler.Modules))
}

// finish writes the checksums, and with a key their signature. They come last: a folder with them is whole.
func (m *maker) finish() error {
	text := m.sums.Text()
	if m.Key != nil {
		if err := writeSignature(m.dist, m.Key, text); err != nil {
			return err
		}
	}
	if err := safefs.Write(filepath.Join(m.dist, names.SumsName), text, 0o644); err != nil {
		return err
	}
	if m.Key == nil && m.PublicKey != nil {
		m.Handler.Handle(report.Note{Text: "the checksums are not signed yet: make sign VERSION=" + m.Version})
	}
	m.Handler.Handle(report.Result{Text: fmt.Sprintf("%d files in %s", len(m.sums), m.dist), Value: m.dist})
	return nil
}

// forget removes the work for other commits, of which nothing is of use any more. A part of a release replaces none,
// and work that another process is at stays.
func (m *maker) forget() error {
	if m.narrowed() {
		return nil
	}
	all := filepath.Dir(m.place)
	found, err := os.ReadDir(all)
	for _, f := range found {
		if !f.IsDir() || strings.HasSuffix(f.Name(), "-"+shortened(m.commit)) {
			continue
		}
		if gone := record.Remove(filepath.Join(all, f.Name())); !errors.Is(gone, record.ErrBusy) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

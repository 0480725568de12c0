package assemble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/program"
	names "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/release/internal/archive"
	"github.com/slipway-dev/slipway/release/internal/bill"
	"github.com/slipway-dev/slipway/release/internal/distro"
	"github.com/slipway-dev/slipway/release/internal/goinstall"
	"github.com/slipway-dev/slipway/release/internal/npm"
	"github.com/slipway-dev/slipway/release/internal/record"
)

// programs compiles the programs of a platform.
func (m *maker) programs(ctx context.Context, p [2]string) error {
	for _, unit := range goinstall.Units(p[0]) {
		if slices.ContainsFunc(unit.Programs, m.wants) {
			if err := m.unit(ctx, unit, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// unit compiles what one run of the go command makes.
func (m *maker) unit(ctx context.Context, unit program.ReleaseUnit, p [2]string) error {
	what := strings.Join(unit.Programs, ", ") + " for " + p[0] + "/" + p[1]
	begin := time.Now()
	step := m.compilation(unit, p, what)
	sums, kept, err := m.work.Do(ctx, step)
	if err != nil {
		return err
	}
	for i, name := range unit.Programs {
		if m.wants(name) {
			m.built[p] = append(m.built[p], binary{name, step.Files[i], sums[i]})
		}
	}
	m.report(what, kept, begin)
	return nil
}

// compilation is the step that compiles a unit.
func (m *maker) compilation(unit program.ReleaseUnit, p [2]string, what string) record.Step {
	s := record.Step{
		Key: record.Key(gocommand.Toolchain(), p, m.compiler.Arguments(unit)),
		Make: func(ctx context.Context, temp string) error {
			m.Handler.Handle(report.Note{Text: "compiling " + what})
			m.Handler.Handle(report.Step{Name: "compiling " + what}) // for minutes: the user is shown that it goes on
			return m.compiler.Unit(ctx, unit, p[0], p[1], temp)
		},
	}
	for _, name := range unit.Programs {
		s.Files = append(s.Files, filepath.Join(m.place, "programs", p[0]+"_"+p[1], names.File(name, p[0])))
	}
	return s
}

// entries are the files of a platform's archive, programs below one folder and texts below another.
func (m *maker) entries(p [2]string, programs, texts string) ([]archive.Entry, error) {
	var all []archive.Entry
	for _, b := range m.built[p] {
		all = append(all, archive.Entry{Name: programs + names.File(b.name, p[0]), Executable: true, Path: b.path})
	}
	for _, name := range names.Texts() {
		data, err := m.text(name)
		if err != nil {
			return nil, err
		}
		all = append(all, archive.Entry{Name: texts + name, Data: data})
	}
	return all, nil
}

// errNoText is that the commit is without a text of releases.
var errNoText = errors.New("the commit does not have it")

// text is a text of the commit.
func (m *maker) text(name string) ([]byte, error) {
	data, ok := m.commit.File(name)
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, errNoText)
	}
	return data, nil
}

// inputs is a key of the programs of a platform.
func (m *maker) inputs(p [2]string) string {
	var of []any
	for _, b := range m.built[p] {
		of = append(of, b.name, fmt.Sprintf("%x", b.sum))
	}
	return record.Key(of...)
}

// archive packs the programs of a platform.
func (m *maker) archive(ctx context.Context, p [2]string) error {
	folder := names.Folder(m.Version, p[0], p[1]) + "/"
	entries, err := m.entries(p, folder, folder)
	if err != nil {
		return err
	}
	return m.do(ctx, m.inputs(p), names.Archive(m.Version, p[0], p[1]), func(_ context.Context, file string) error {
		return create(file, func(w io.Writer) error {
			if p[0] == "windows" {
				return archive.Zip(w, m.commit.Date, entries)
			}
			return archive.TarGz(w, m.commit.Date, entries)
		})
	})
}

// billName is the name of a platform's bill of materials.
func billName(version string, p [2]string) string {
	return names.Folder(version, p[0], p[1]) + ".cdx.json"
}

// bill writes the bill of materials of a platform's archive.
func (m *maker) bill(ctx context.Context, p [2]string) error {
	return m.do(ctx, m.inputs(p), billName(m.Version, p), func(_ context.Context, file string) error {
		var programs []bill.Program
		for _, b := range m.built[p] {
			programs = append(programs, bill.Program{Name: b.name, Path: b.path})
		}
		text, err := bill.Of(m.Version, m.commit.Date, programs)
		if err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o644)
	})
}

// npm packs the npm package of a platform.
func (m *maker) npm(ctx context.Context, p [2]string) error {
	entries, err := m.entries(p, npm.Folder, "")
	if err != nil {
		return err
	}
	pkg, err := npm.Platform(m.Version, p[0], p[1], entries)
	if err != nil {
		return err
	}
	return m.npmPackage(ctx, m.inputs(p), pkg)
}

func (m *maker) npmPackage(ctx context.Context, key string, pkg npm.Package) error {
	return m.do(ctx, key, pkg.File, func(_ context.Context, file string) error {
		return create(file, func(w io.Writer) error { return archive.TarGz(w, m.commit.Date, pkg.Entries) })
	})
}

// distroName is the name of a package of distributions.
func distroName(version string, p [2]string, format string) string {
	return names.Folder(version, p[0], p[1]) + "." + format
}

// distros writes the packages of distributions for a platform of Linux.
func (m *maker) distros(ctx context.Context, p [2]string) error {
	if p[0] != "linux" {
		return nil
	}
	for _, format := range distro.Formats() {
		err := m.do(ctx, m.inputs(p), distroName(m.Version, p, format), func(_ context.Context, file string) error {
			files, err := m.distroFiles(p, filepath.Dir(file))
			if err != nil {
				return err
			}
			pkg := distro.Package{Format: format, Arch: p[1], Version: m.Version, Date: m.commit.Date, Files: files}
			return create(file, pkg.Write)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// distroFiles are the files of a distribution's package; texts of the commit are put into temp.
func (m *maker) distroFiles(p [2]string, temp string) ([]distro.File, error) {
	var files []distro.File
	for _, b := range m.built[p] {
		files = append(files, distro.File{Name: b.name, Path: b.path})
	}
	for _, name := range names.Texts() {
		data, err := m.text(name)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(temp, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return nil, err
		}
		files = append(files, distro.File{Name: name, Path: path, IsText: true})
	}
	return files, nil
}

// create writes a file.
func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

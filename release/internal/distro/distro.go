// Package distro writes packages of Linux distributions, with nfpm:
//
//	err := distro.Package{Format: "deb", Arch: "arm64", Version: "v0.1.0", Date: date, Files: files}.Write(w)
//
// The programs lie in /usr/lib/slipway, where slipway finds the others beside itself, and /usr/bin/slipway is a link.
// No script runs when a package is installed. The same files make the same bytes, on any machine.
package distro

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// File is a file of a package.
type File struct {
	Name   string // of a program, or of a text
	Path   string // where its content is
	IsText bool
}

// Package is a package of a distribution.
type Package struct {
	Format  string // deb or rpm
	Arch    string // as Go has it
	Version string
	Date    time.Time
	Files   []File
}

// Formats are those that are written.
func Formats() []string { return []string{"deb", "rpm"} }

const (
	programs = "/usr/lib/slipway"
	texts    = "/usr/share/doc/slipway"
)

// Write writes the package.
func (p Package) Write(w io.Writer) error {
	packager, err := packager(p.Format)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(p.info())
	if err := nfpm.PrepareForPackager(info, p.Format); err != nil {
		return fmt.Errorf("prepare the %s: %w", p.Format, err)
	}
	if err := packager.Package(info, w); err != nil {
		return fmt.Errorf("write the %s: %w", p.Format, err)
	}
	return nil
}

// packager writes a format. nfpm's own table of them is filled by its packages' init functions.
func packager(format string) (nfpm.Packager, error) {
	switch format {
	case "deb":
		return deb.Default, nil
	case "rpm":
		return rpm.DefaultRPM, nil
	}
	return nil, fmt.Errorf("%w: %s", nfpm.ErrNoPackager{}, format)
}

const summary = "Builds, runs and ships Kubernetes operators"

// info is the package as nfpm knows it. The host and the time of the build would be this machine's otherwise.
func (p Package) info() *nfpm.Info {
	return &nfpm.Info{
		Name: "slipway", Arch: p.Arch, Platform: "linux", Version: p.Version, Release: "1", Section: "devel", Priority: "optional",
		Maintainer: "The Slipway authors <maintainers@slipway.dev>", Vendor: "Slipway", Homepage: "https://github.com/slipway-dev/slipway",
		License: "Apache-2.0", Description: summary + ".\nOne command, with an embedded Kubernetes cluster for tests.", MTime: p.Date, DisableGlobbing: true,
		Overridables: nfpm.Overridables{Contents: p.contents(), Suggests: []string{goPackage(p.Format)}, RPM: nfpm.RPM{BuildHost: "slipway", Summary: summary}},
	}
}

// goPackage is what the distributions with a format call Go.
func goPackage(format string) string {
	if format == "deb" {
		return "golang-go"
	}
	return "golang"
}

// contents are the files, and the link in /usr/bin.
func (p Package) contents() files.Contents {
	all := files.Contents{{Source: "../lib/slipway/slipway", Destination: "/usr/bin/slipway", Type: files.TypeSymlink, FileInfo: p.state(0o777)}}
	for _, f := range p.Files {
		c := &files.Content{Source: f.Path, Destination: path.Join(programs, f.Name), FileInfo: p.state(0o755)}
		if f.IsText {
			c.Destination, c.FileInfo = path.Join(texts, textName(p.Format, f.Name)), p.state(0o644)
		}
		all = append(all, c)
	}
	return all
}

// textName is what a text is called: Debian wants the licence under another name.
func textName(format, name string) string {
	if format == "deb" && strings.EqualFold(name, "LICENSE") {
		return "copyright"
	}
	return name
}

func (p Package) state(mode os.FileMode) *files.ContentFileInfo {
	return &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: p.Date}
}

// Package npm makes packages of npm's registry: one for each platform, with the programs, and the package `slipway`,
// which depends on all of them as an option, so that npm installs the one for the machine at hand.
//
//	p := npm.Platform("v0.1.0", "linux", "amd64", files)
//	root := npm.Root("v0.1.0", platforms, licence)
//	err := archive.TarGz(w, date, p.Entries)
//
// Nothing runs at installation and nothing is downloaded besides the packages. The command is a small script, which
// starts the program and hands over arguments, signals and the exit status.
package npm

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/release/internal/archive"
)

//go:embed slipway.js
var launcher []byte

//go:embed README.md
var readme []byte

// Package is a package as its registry has it.
type Package struct {
	File    string // name of the archive, as `npm pack` has it
	Entries []archive.Entry
}

// manifest is a package.json. The order of its fields is that of npm's documentation.
type manifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	Homepage     string            `json:"homepage"`
	License      string            `json:"license"`
	Repository   repository        `json:"repository"`
	Bin          map[string]string `json:"bin,omitempty"`
	Engines      map[string]string `json:"engines,omitempty"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Prefer       bool              `json:"preferUnplugged,omitempty"`
	Optional     map[string]string `json:"optionalDependencies,omitempty"`
	PublishPlace map[string]string `json:"publishConfig"`
}

type repository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// described is what all packages have in common.
func described(name, version, what string) manifest {
	return manifest{Name: name, Version: strings.TrimPrefix(version, "v"), Description: what, Homepage: "https://github.com/slipway-dev/slipway",
		License: "Apache-2.0", Repository: repository{"git", "git+https://github.com/slipway-dev/slipway.git"}, PublishPlace: map[string]string{"access": "public"}}
}

const scope = "@slipway-dev/"

// platform is what Node.js calls a platform.
func platform(goos, goarch string) (system, cpu string) {
	system, cpu = goos, goarch
	if goos == "windows" {
		system = "win32"
	}
	if goarch == "amd64" {
		cpu = "x64"
	}
	return system, cpu
}

// PlatformName is the name of a platform's package.
func PlatformName(goos, goarch string) string {
	system, cpu := platform(goos, goarch)
	return scope + system + "-" + cpu
}

// Platform is the package of a platform; entries are the files of its archive, without a folder.
func Platform(version, goos, goarch string, entries []archive.Entry) (Package, error) {
	m := described(PlatformName(goos, goarch), version, "The programs of slipway for "+goos+" on "+goarch+".")
	system, cpu := platform(goos, goarch)
	m.OS, m.CPU, m.Prefer = []string{system}, []string{cpu}, true
	return pack(m, entries)
}

// Root is the package that users install.
func Root(version string, platforms [][2]string, licence []byte) (Package, error) {
	m := described("slipway", version, "One command that builds, runs, proves and ships Kubernetes operators.")
	m.Bin, m.Engines, m.Optional = map[string]string{"slipway": Folder + "slipway.js"}, map[string]string{"node": ">=18"}, map[string]string{}
	for _, p := range platforms {
		m.Optional[PlatformName(p[0], p[1])] = m.Version
	}
	return pack(m, []archive.Entry{{Name: Folder + "slipway.js", Executable: true, Data: launcher}, {Name: "README.md", Data: readme}, {Name: "LICENSE", Data: licence}})
}

// Files lists the names of all packages of a version.
func Files(version string, platforms [][2]string) []string {
	all := []string{file("slipway", version)}
	for _, p := range platforms {
		all = append(all, file(PlatformName(p[0], p[1]), version))
	}
	return all
}

// file is the name of a package's archive.
func file(name, version string) string {
	flat := strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-")
	return flat + "-" + strings.TrimPrefix(version, "v") + ".tgz"
}

// pack puts a manifest and files where npm looks for them.
func pack(m manifest, files []archive.Entry) (Package, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return Package{}, fmt.Errorf("write package.json: %w", err)
	}
	p := Package{File: file(m.Name, m.Version)}
	for _, e := range append(files, archive.Entry{Name: "package.json", Data: append(text, '\n')}) {
		e.Name = "package/" + e.Name
		p.Entries = append(p.Entries, e)
	}
	return p, nil
}

// Folder is where the launcher finds the programs in a platform's package.
const Folder = "bin/"

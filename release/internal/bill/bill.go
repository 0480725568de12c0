// Package bill writes the bill of materials of an archive: CycloneDX 1.6, from what the go command noted in each of its
// programs.
//
//	text, err := bill.Of("v0.1.0", date, []bill.Program{{Name: "slipway", Path: path}})
//
// It lists the programs with their checksums, each module once, Go's own library, and which program has which module.
// The same programs make the same bytes.
package bill

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// Program is a program of the archive.
type Program struct{ Name, Path string }

// Of writes the bill of programs of a version.
func Of(version string, date time.Time, programs []Program) ([]byte, error) {
	l := list{modules: map[string]cdx.Component{}}
	for _, p := range programs {
		if err := l.add(p); err != nil {
			return nil, fmt.Errorf("bill of materials: %w", err)
		}
	}
	bom := cdx.NewBOM()
	bom.SpecVersion, bom.SerialNumber = cdx.SpecVersion1_6, l.serial(version)
	bom.Metadata = &cdx.Metadata{Timestamp: date.UTC().Format(time.RFC3339),
		Component: &cdx.Component{BOMRef: root, Type: cdx.ComponentTypeApplication, Name: "slipway", Version: version, Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}}}
	components := l.components()
	dependencies := l.all()
	bom.Components, bom.Dependencies = &components, &dependencies
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return out.Bytes(), err
}

// root is the reference of the release itself.
const root = "slipway"

// list is what programs consist of.
type list struct {
	programs     []cdx.Component
	modules      map[string]cdx.Component // by their references
	dependencies []cdx.Dependency
}

// add adds a program and its modules.
func (l *list) add(p Program) error {
	info, err := buildinfo.ReadFile(p.Path)
	if err != nil {
		return err
	}
	sum, err := sumOf(p.Path)
	if err != nil {
		return err
	}
	c := cdx.Component{BOMRef: "program:" + p.Name, Type: cdx.ComponentTypeApplication, Name: p.Name, Version: info.Main.Version,
		PackageURL: purl(info.Main.Path, info.Main.Version), Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}}
	l.programs = append(l.programs, c)
	refs := []string{l.module("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range modules(info) {
		refs = append(refs, l.module(m.Path, m.Version, m.Sum))
	}
	slices.Sort(refs)
	l.dependencies = append(l.dependencies, cdx.Dependency{Ref: c.BOMRef, Dependencies: &refs})
	return nil
}

// modules are those that a program was compiled from, its own apart.
func modules(info *debug.BuildInfo) []*debug.Module {
	var all []*debug.Module
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, m)
	}
	return all
}

// module adds a module, unless it is there, and returns its reference.
func (l *list) module(path, version, sum string) string {
	ref := purl(path, version)
	c := cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: ref}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}}
	}
	l.modules[ref] = c
	return ref
}

// purl is the package URL of a module. A + in a version must not be read as a space.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// components are the programs, then the modules by their references.
func (l *list) components() []cdx.Component {
	all := slices.Clone(l.programs)
	for _, c := range l.modules {
		all = append(all, c)
	}
	slices.SortStableFunc(all[len(l.programs):], func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	return all
}

// all are the dependencies, with those of the release itself.
func (l *list) all() []cdx.Dependency {
	var refs []string
	for _, p := range l.programs {
		refs = append(refs, p.BOMRef)
	}
	return append([]cdx.Dependency{{Ref: root, Dependencies: &refs}}, l.dependencies...)
}

// serial is a UUID that follows from the programs: version 8, for what is made in ways of one's own.
func (l *list) serial(version string) string {
	h := sha256.New()
	fmt.Fprintln(h, version)
	for _, p := range l.programs {
		fmt.Fprintln(h, p.Name, (*p.Hashes)[0].Value)
	}
	u := h.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// sumOf is the SHA-256 of a file, in hexadecimal.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Package sbom writes the bill of materials of a Go program, in SPDX 2.3, from what the go command noted in it: the
// modules that it consists of, with their versions, and Go itself.
//
//	text, err := sbom.SPDX([]sbom.Program{{info, digestOfTheProgram}}, created)
package sbom

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"time"
)

// MediaType is what registries know the document as.
const MediaType = "application/spdx+json"

type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []pkg          `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	ID            string      `json:"SPDXID"`
	Name          string      `json:"name"`
	Version       string      `json:"versionInfo,omitempty"`
	Download      string      `json:"downloadLocation"`
	FilesAnalyzed bool        `json:"filesAnalyzed"`
	Checksums     []checksum  `json:"checksums,omitempty"`
	References    []reference `json:"externalRefs,omitempty"`
	Purpose       string      `json:"primaryPackagePurpose,omitempty"`
	Comment       string      `json:"comment,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const (
	documentID = "SPDXRef-DOCUMENT"
	unknown    = "NOASSERTION"
)

// A Program is what the go command noted in one, and the SHA-256 of its contents, in hexadecimal.
type Program struct {
	Info   *debug.BuildInfo
	SHA256 string
}

// SPDX writes the bill of the programs of an image, of which there is at least one. It has the name of the first.
func SPDX(programs []Program, created time.Time) ([]byte, error) {
	first := programs[0]
	name := path.Base(first.Info.Main.Path)
	d := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: documentID, Name: name,
		Namespace: "https://spdx.org/spdxdocs/" + url.PathEscape(name) + "-" + first.SHA256,
		Creation:  creation{created.UTC().Format(time.RFC3339), []string{"Tool: slipway"}},
	}
	listed := map[string]bool{}
	for _, p := range programs {
		d.program(p, listed)
	}
	return json.MarshalIndent(d, "", "  ")
}

// program adds a program. Modules that are listed for another one are not listed again.
func (d *document) program(p Program, listed map[string]bool) {
	main := pkg{ID: id("program", p.Info.Path, ""), Name: p.Info.Path, Version: version(p.Info.Main.Version), Download: unknown,
		Checksums: []checksum{{"SHA256", p.SHA256}}, Purpose: "APPLICATION"}
	d.Packages = append(d.Packages, main)
	d.Relationships = append(d.Relationships, relationship{documentID, "DESCRIBES", main.ID})
	modules := []pkg{module(debug.Module{Path: "stdlib", Version: strings.TrimPrefix(p.Info.GoVersion, "go")}, "the standard library of Go"), module(p.Info.Main, "")}
	for _, dep := range p.Info.Deps {
		comment := ""
		if dep.Replace != nil {
			comment = "in place of " + strings.TrimSpace(dep.Path+" "+dep.Version)
			dep = dep.Replace
		}
		modules = append(modules, module(*dep, comment))
	}
	for _, m := range modules {
		if !listed[m.ID] {
			listed[m.ID] = true
			d.Packages = append(d.Packages, m)
		}
		d.Relationships = append(d.Relationships, relationship{main.ID, "CONTAINS", m.ID})
	}
}

// module describes a module. One of a folder, like a replacement by one, has no place in the world.
func module(m debug.Module, comment string) pkg {
	p := pkg{ID: id("module", m.Path, version(m.Version)), Name: m.Path, Version: version(m.Version), Download: unknown, Purpose: "LIBRARY", Comment: comment}
	if p.Version == "" || strings.HasPrefix(m.Path, ".") || strings.HasPrefix(m.Path, "/") {
		return p
	}
	p.References = []reference{{"PACKAGE-MANAGER", "purl", purl(m)}}
	return p
}

// version leaves out what is none.
func version(v string) string {
	if v == "(devel)" {
		return ""
	}
	return v
}

// purl names a module among the packages of all languages.
func purl(m debug.Module) string {
	elements := strings.Split(strings.ToLower(m.Path), "/")
	for i, e := range elements {
		elements[i] = url.PathEscape(e)
	}
	return "pkg:golang/" + strings.Join(elements, "/") + "@" + url.QueryEscape(m.Version)
}

// id makes an identifier of what it is, within the document. No two things have the same one.
func id(kind, path, version string) string {
	var s strings.Builder
	s.WriteString("SPDXRef-" + kind)
	for _, part := range []string{path, version} {
		if part == "" {
			continue
		}
		s.WriteByte('-')
		for _, c := range []byte(part) {
			switch {
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.':
				s.WriteByte(c)
			default:
				fmt.Fprintf(&s, "-%x", c)
			}
		}
	}
	return s.String()
}

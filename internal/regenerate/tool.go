package regenerate

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
)

// applyConfigurations is the generator of apply configurations.
const applyConfigurations = "applyconfiguration"

// A Pin is a version of controller-gen that a project uses, and what says so: a phrase such as "the Makefile asks for".
type Pin struct{ Version, Source string }

// Pin returns the version of controller-gen whose files the plan makes.
func (p Plan) Pin() Pin { return p.pin }

// WithVersion returns the plan for another version of controller-gen, which its user has asked for.
func (p Plan) WithVersion(version string) (Plan, error) {
	const flag = "--controller-gen-version"
	if p.old {
		p.refusal, p.old = nil, false
	}
	p.pin, p.contradictions = Pin{version, flag + " asks for"}, nil
	if semver.Canonical(version) != version {
		return p, &report.Error{What: "version " + version + " is none of controller-gen's", Where: flag, Hint: "write it like v0.17.3", Next: "slipway generate " + flag + " " + generate.Newest, Code: report.UsageCode}
	}
	_, err := generate.Supports(version, flag, "slipway generate "+flag+" "+generate.Oldest)
	return p, err
}

// Contradictions returns a finding for each version that something in the project names besides the plan's.
func (p Plan) Contradictions() []report.Finding { return p.contradictions }

// Later returns the plan's version and what names it, if slipway does not know what that version writes: it writes what
// the newest one does that it knows. Else both are "".
func (p Plan) Later() (source, version string) {
	if later, _ := generate.Supports(p.pin.Version, "", ""); later {
		return p.pin.Source, p.pin.Version
	}
	return "", ""
}

// settle chooses the version of the plan: the first one that the project's files name, else that of its CRDs.
func (p *Plan) settle(code *codebase.Codebase) error {
	pins, err := code.ControllerGens()
	if err != nil {
		return err
	}
	var found []Pin
	for _, pin := range pins {
		if pin.IsOne() {
			found = append(found, Pin{pin.Version, pin.Source})
		}
	}
	named := p.named(len(found) > 0)
	if len(named) > 0 {
		found = append(found, Pin{named[0], "the project's CRDs name"})
	}
	if len(found) == 0 {
		found = []Pin{{generate.Newest, "slipway takes"}}
	}
	p.pin = found[0]
	for _, pin := range pins {
		if !pin.IsOne() {
			p.contradictions = append(p.contradictions, report.Finding{
				Rule:       report.RuleControllerGenVersion,
				Message:    fmt.Sprintf("controller-gen: %s %q, which is no single version; %s %s, which counts", pin.Source, pin.Version, p.pin.Source, p.pin.Version),
				Suggestion: "write a version like " + generate.Newest,
			})
		}
	}
	for _, other := range found[1:] {
		if other.Version != p.pin.Version {
			p.contradictions = append(p.contradictions, report.Finding{
				Rule:       report.RuleControllerGenVersion,
				Message:    "controller-gen: " + p.pin.Source + " " + p.pin.Version + ", which counts, but " + other.Source + " " + other.Version,
				Suggestion: "let both have one version",
			})
		}
	}
	if p.pin == found[len(found)-1] && len(named) > 1 {
		p.contradictions = append(p.contradictions, report.Finding{
			Rule:       report.RuleControllerGenVersion,
			Message:    fmt.Sprintf("controller-gen: the newest version that the project's CRDs name counts, %s, and others name %s", named[0], named[1]),
			Suggestion: "pin a version in the Makefile or in go.mod",
		})
	}
	_, err = generate.Supports(p.pin.Version, p.pin.Source+" it", "slipway generate --controller-gen-version "+generate.Oldest)
	if e, unsupported := errors.AsType[*report.Error](err); unsupported && p.refusal == nil {
		e.Class = report.BadProject
		p.refusal, p.old = e, true
	}
	return nil
}

// mostRead bounds how many CRDs of a folder are looked at for the version that they name.
const mostRead = 1000

// named returns the controller-gen versions that the CRDs in the plan's folders name, newest first; or those that the
// first of each folder name. Unreadable CRDs, and folders outside of the project, count for nothing.
func (p Plan) named(first bool) (versions []string) {
	for _, folder := range p.CRDFolders() {
		folder, err := filepath.Rel(p.root, folder)
		if err != nil || !filepath.IsLocal(folder) {
			continue
		}
		entries, err := p.view.ReadDir(filepath.ToSlash(folder))
		if err != nil {
			continue
		}
		for i, entry := range entries {
			content, err := p.view.ReadFile(path.Join(filepath.ToSlash(folder), entry.Name()))
			version := namedBy(content)
			if err != nil || i > mostRead || path.Ext(entry.Name()) != ".yaml" || version == "" {
				continue
			}
			if !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
			if first {
				break
			}
		}
	}
	semver.Sort(versions) // what is no version comes first
	slices.Reverse(versions)
	return versions
}

// unnamed are what CRDs name if the program that wrote them did not know its version.
var unnamed = []string{"(devel)", "(unknown)"}

// namedBy returns the version that a CRD names, as far as it may be one.
func namedBy(content []byte) string {
	found := versionOf().FindSubmatch(content[:min(len(content), headSize)])
	if found == nil || len(found[1]) > 64 {
		return ""
	}
	if version := string(found[1]); semver.IsValid(version) || slices.Contains(unnamed, version) {
		return version
	}
	return ""
}

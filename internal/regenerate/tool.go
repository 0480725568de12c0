package regenerate

import (
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
	if !semver.IsValid(version) {
		return p, &report.Error{What: "version " + version + " is none of controller-gen's", Where: flag, Hint: "write it like v0.17.3", Next: "slipway generate " + flag + " " + generate.Newest, Code: report.UsageCode}
	}
	_, err := generate.Supports(version, flag)
	return p, err
}

// Contradictions returns a finding for each version that something in the project names besides the plan's.
func (p Plan) Contradictions() []report.Finding { return p.contradictions }

// Later returns the plan's version and what names it, if slipway does not know what that version writes: it writes what
// the newest one does that it knows. Else both are "".
func (p Plan) Later() (source, version string) {
	if later, _ := generate.Supports(p.pin.Version, ""); later {
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
		found = append(found, Pin{pin.Version, pin.Source})
	}
	for _, version := range p.named(len(found) > 0) {
		found = append(found, Pin{version, "the project's CRDs name"})
	}
	if len(found) == 0 {
		p.pin = Pin{generate.Newest, "slipway writes the files of"}
		return nil
	}
	p.pin = found[0]
	for _, other := range found[1:] {
		if other.Version != p.pin.Version {
			p.contradictions = append(p.contradictions, report.Finding{
				Message:    "controller-gen: " + p.pin.Source + " " + p.pin.Version + ", which counts, but " + other.Source + " " + other.Version,
				Suggestion: "let both have one version",
			})
		}
	}
	if !generate.Knows(p.pin.Version, applyConfigurations) && len(p.generation.Calls) == 0 {
		p.runs = p.Except(applyConfigurations).runs // the default, which nothing asks for
	}
	if _, err := generate.Supports(p.pin.Version, p.pin.Source+" it"); err != nil && p.refusal == nil {
		p.refusal, p.old = err, true
	}
	return nil
}

// named returns the controller-gen versions that the CRDs in the plan's folders name, newest first; or those that the
// first of each folder name. Unreadable CRDs count for nothing.
func (p Plan) named(first bool) (versions []string) {
	for _, folder := range p.CRDFolders() {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			continue
		}
		for _, path := range files {
			version, err := writtenBy(path)
			if err != nil || !semver.IsValid(version) {
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
	semver.Sort(versions)
	slices.Reverse(versions)
	return versions
}

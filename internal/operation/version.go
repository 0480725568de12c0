package operation

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/setupenvtest"
)

// Version describes this slipway; the JSON form is stable.
type Version struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit, in a release
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`

	Kubernetes    string `json:"kubernetes"`          // of the embedded cluster
	Kubectl       string `json:"kubectl"`             // of `slipway kubectl`
	Kustomize     string `json:"kustomize,omitempty"` // of `slipway kustomize`
	ControllerGen string `json:"controllerGen"`       // whose output `slipway generate` reproduces
}

// ReadVersion returns the version that the Go linker recorded. That is the module version after `go install …@version`,
// the commit in a checkout, or the commit and date stamped into a release.
func ReadVersion() Version {
	const kubernetes = "v" + setupenvtest.Kubernetes
	stamp := release.Stamped()
	v := Version{Version: "(devel)", Commit: stamp.Commit, Date: stamp.Date, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Kubernetes: kubernetes, Kubectl: kubernetes, ControllerGen: generate.Newest}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	v.Kustomize = moduleVersion(info, "sigs.k8s.io/kustomize/kustomize/v5")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// moduleVersion returns the version of a module in the program, or "" if unknown.
func moduleVersion(info *debug.BuildInfo, path string) string {
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}

// OwnRelease returns the version that new projects record. It is "devel" for every program that is not a release, so
// that a project does not depend on the commit that made it.
func OwnRelease() string {
	version := ReadVersion().Version
	if !release.IsVersion(version) {
		return "devel"
	}
	return version
}

func (v Version) String() string {
	s := "slipway " + v.Version
	if v.Commit != "" {
		s += " commit " + v.Commit
	}
	if v.Modified {
		s += " (modified)"
	}
	if v.Date != "" {
		s += " of " + v.Date
	}
	return fmt.Sprintf("%s, %s, %s", s, v.Go, v.Platform)
}

// embedded returns the versions of what slipway stands in for, one per line.
func (v Version) embedded() string {
	var lines strings.Builder
	for _, part := range [][2]string{{"Kubernetes", v.Kubernetes}, {"kubectl", v.Kubectl}, {"kustomize", v.Kustomize}, {"controller-gen", v.ControllerGen}} {
		if part[1] != "" {
			fmt.Fprintf(&lines, "\n  %-15s %s", part[0], part[1])
		}
	}
	return lines.String()
}

// ReportVersion reports this slipway's version, and the versions of what it stands in for.
func ReportVersion(s *Session) {
	v := ReadVersion()
	s.Handler.Handle(report.Result{Text: v.String() + v.embedded(), Value: v})
}

// ReportToolVersion reports this slipway's version after before, the version text of the tool that it stands in for.
func ReportToolVersion(s *Session, before string) {
	v := ReadVersion()
	s.Handler.Handle(report.Result{Text: before + v.String(), Value: v})
}

// ToolVersion returns slipway's version for inventories, which need a semantic version.
func ToolVersion() string {
	if version := ReadVersion().Version; semver.IsValid(version) {
		return version
	}
	return "v0.0.0-devel"
}

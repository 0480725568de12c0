package operation

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
)

// Version is which slipway this is; the JSON form is stable.
type Version struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ReadVersion takes the version from what the Go linker recorded: the module
// version after `go install …@version`, the commit in a checkout.
func ReadVersion() Version {
	v := Version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	stamp := release.Stamped()
	v.Commit, v.Date = stamp.Commit, stamp.Date
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
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

// ownRelease is slipway's version as new projects record it: one word for all programs that are no release, so that a
// project does not depend on the commit of the program that made it.
func ownRelease() string {
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
	if v.Date != "" {
		s += " of " + v.Date
	}
	if v.Modified {
		s += " (modified)"
	}
	return fmt.Sprintf("%s, %s, %s", s, v.Go, v.Platform)
}

// TellVersion answers with which slipway this is; people see it after a text.
func (s *Session) TellVersion(before string) {
	v := ReadVersion()
	s.Handler.Handle(report.Result{Text: before + v.String(), Value: v})
}

// toolVersion is slipway's version as inventories have it: a semantic one.
func toolVersion() string {
	if version := ReadVersion().Version; semver.IsValid(version) {
		return version
	}
	return "v0.0.0-devel"
}

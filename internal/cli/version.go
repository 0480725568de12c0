package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/report"
)

// versionInfo is what `slipway version` tells; the JSON form is stable.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// readVersion takes the version from what the Go linker recorded: the module
// version after `go install …@version`, the commit in a checkout.
func readVersion() versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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

// release is slipway's version as new projects record it: one word for all programs that are no release, so that a project does not
// depend on the commit of the program that made it.
func release() string {
	version := readVersion().Version
	if !semver.IsValid(version) || semver.Build(version) != "" || module.IsPseudoVersion(version) {
		return "devel"
	}
	return version
}

func (v versionInfo) String() string {
	s := "slipway " + v.Version
	if v.Commit != "" {
		s += " commit " + v.Commit
	}
	if v.Modified {
		s += " (modified)"
	}
	return fmt.Sprintf("%s, %s, %s", s, v.Go, v.Platform)
}

func (inv *invocation) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of slipway and how it was built",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			inv.handler.Handle(report.Result{Text: v.String(), Value: v})
			return nil
		},
	}
}

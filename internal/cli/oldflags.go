package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// An oldFlag is one that earlier tools had and tutorials still show: it is accepted, is not in
// help, and a note says what takes its place.
type oldFlag struct {
	name string
	bare string                    // its value when it stands without one, as truth values do
	note func(value string) string // "" for a value that says what is so anyway
}

// always is the note whatever the value.
func always(note string) func(string) string { return func(string) string { return note } }

// unless is a note for all values but one.
func unless(usual, note string) func(string) string {
	return func(value string) string {
		if value == usual {
			return ""
		}
		return note
	}
}

var (
	oldInitFlags = []oldFlag{
		{"dep", "true", unless("true", "the go command downloads modules; --fetch-deps=false skips that")},
		{"component-config", "true", unless("false", "flags configure the manager; internal/manager declares them")},
	}
	oldAPIFlags = []oldFlag{
		{"example", "true", always("new types have one example field, Foo")},
		{"crd-version", "", unless("v1", "CRDs always have the version v1, the only one that Kubernetes serves")},
	}
	oldWebhookFlags = []oldFlag{
		{"webhook-version", "", unless("v1", "webhook configurations always have the version v1, the only one that Kubernetes serves")},
	}
)

// accept has a command take old flags.
func (inv *invocation) accept(cmd *cobra.Command, old []oldFlag) *cobra.Command {
	for _, f := range old {
		cmd.Flags().String(f.name, "", "")
		flag := cmd.Flags().Lookup(f.name)
		flag.Hidden, flag.NoOptDefVal = true, f.bare
	}
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, f := range old {
			flag := cmd.Flags().Lookup(f.name)
			if note := f.note(flag.Value.String()); flag.Changed && note != "" {
				inv.handler.Handle(report.Note{Text: "--" + f.name + " has no effect: " + note})
			}
		}
		return run(cmd, args)
	}
	return cmd
}

// renamed has a command take the old spelling of a flag, with a note; not both.
func (inv *invocation) renamed(cmd *cobra.Command, old, now string) *cobra.Command {
	flags := cmd.Flags()
	flags.String(old, "", "")
	flags.Lookup(old).Hidden = true
	check := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		given := cmd.Flags().Lookup(old)
		switch {
		case given.Changed && cmd.Flags().Changed(now):
			return &report.Error{What: "--" + old + " and --" + now + " are the same flag", Where: cmd.CommandPath(), Hint: "--" + now + " is its name", Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
		case given.Changed:
			inv.handler.Handle(report.Note{Text: "--" + old + " is --" + now + " here"})
			if err := cmd.Flags().Set(now, given.Value.String()); err != nil {
				return flagError(cmd, inv.Args, err)
			}
		}
		if check == nil {
			return nil
		}
		return check(cmd, args)
	}
	return cmd
}

// acceptVersion notes what is made instead of what earlier tools called the version of a PROJECT file, and refuses
// others.
func (inv *invocation) acceptVersion(version string) error {
	switch {
	case version == project.Version:
	case version == "2" || strings.HasPrefix(version, "3-"):
		inv.handler.Handle(report.Note{Text: "--project-version " + version + ": the project is made in version " + project.Version + ", which follows it"})
	default:
		return &report.Error{What: "unknown project version " + version, Where: "--project-version", Hint: "the only version is " + project.Version}
	}
	return nil
}

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
)

// usageCode is the exit code of a mistake on the command line.
const usageCode = 2

// noArgs refuses arguments of a command that takes only flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &report.Error{
		What: fmt.Sprintf("%s takes no arguments, only flags", cmd.CommandPath()), Where: args[0],
		Next: cmd.CommandPath() + " --help", Code: usageCode,
	}
}

// noSubcommand refuses a word that is no command below cmd and suggests the nearest.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &report.Error{
		What: fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0]),
		Next: cmd.CommandPath() + " --help", Code: usageCode,
	}
	cmd.SuggestionsMinimumDistance = 2 // letters that may differ
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		e.Hint = "did you mean " + strings.Join(near, " or ") + "?"
		e.Next = cmd.CommandPath() + " " + near[0]
	}
	return e
}

// requestedOutput is the format that a command line asks for, which may be one that
// cannot be read as a whole: its mistakes are told in that format too. What is
// not the name of a format is left to the flag itself.
func requestedOutput(args []string) string {
	format := ui.Text
	for i, arg := range args {
		if arg == "--" {
			break
		}
		value, joined := strings.CutPrefix(arg, "--output=")
		if arg == "--output" && i+1 < len(args) {
			value, joined = args[i+1], true
		}
		if joined && value == ui.JSON {
			format = ui.JSON
		}
	}
	return format
}

// flagError makes a mistake in a flag the error that its user sees.
func flagError(cmd *cobra.Command, err error) error {
	return &report.Error{What: "the flags cannot be read", Err: err, Next: cmd.CommandPath() + " --help", Code: usageCode}
}

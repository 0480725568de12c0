package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/spelling"
	"github.com/slipway-dev/slipway/internal/ui"
)

// noArgs refuses arguments of a command that takes only flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &report.Error{
		What: fmt.Sprintf("%s takes no arguments, only flags", cmd.CommandPath()), Where: args[0],
		Next: cmd.CommandPath() + " --help", Code: report.UsageCode,
	}
}

// noSubcommand refuses a word that is no command below cmd and suggests the nearest.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if known := otherTool(cmd, args); known != nil {
		return known
	}
	e := &report.Error{
		What: fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0]),
		Next: cmd.CommandPath() + " --help", Code: report.UsageCode,
	}
	cmd.SuggestionsMinimumDistance = 2 // letters that may differ
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		e.Hint = "did you mean " + strings.Join(near, " or ") + "?"
		e.Next = cmd.CommandPath() + " " + near[0]
	}
	return e
}

// strayFlags refuses flags of a command that stand before another one below it: there they would
// be taken and have no effect.
func strayFlags(cmd *cobra.Command) error {
	for above := cmd.Parent(); above != nil; above = above.Parent() {
		stray := ""
		above.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Changed {
				stray = f.Name
			}
		})
		if stray != "" {
			return &report.Error{
				What: fmt.Sprintf("--%s is a flag of %s, not of %s", stray, above.CommandPath(), cmd.CommandPath()), Where: "--" + stray,
				Hint: "leave the flag out, or run the commands one after the other", Next: cmd.CommandPath() + " --help", Code: report.UsageCode,
			}
		}
	}
	return nil
}

// apart refuses flags of which a run has at most one.
func apart(cmd *cobra.Command, flags ...string) error {
	var given, all []string
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
		all = append(all, "--"+name)
	}
	if len(given) < 2 {
		return nil
	}
	return &report.Error{
		What: strings.Join(given, " and ") + " exclude each other", Where: cmd.CommandPath() + " " + strings.Join(given, " "),
		Hint: "use at most one of " + strings.Join(all, ", ") + " in one run", Next: cmd.CommandPath() + " " + given[0], Code: report.UsageCode,
	}
}

// missingFlag is the error of a flag that a command cannot do without.
func missingFlag(cmd *cobra.Command, name, next string) error {
	return &report.Error{What: cmd.CommandPath() + " needs --" + name, Where: "--" + name, Next: cmd.CommandPath() + " " + next}
}

// flagValueError is a mistake in the value of one flag.
func flagValueError(flag, what string) error {
	return &report.Error{What: what, Where: flag, Next: "slipway cluster start --help", Code: report.UsageCode}
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

// flagError makes a mistake in a flag the error that its user sees. An unknown flag gets the nearest one of its command
// suggested. Args are all that the user typed.
func flagError(cmd *cobra.Command, args []string, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		if ok {
			words = append(slices.Clone(words), after(args, words)...)
		}
		if known := otherTool(cmd, words); known != nil {
			return known
		}
	}
	e := &report.Error{What: "the flags cannot be read", Err: err, Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return e
	}
	if clusterInstead(cmd, args, unknown.GetSpecifiedName(), e) {
		return e
	}
	if near := nearestFlag(cmd, unknown.GetSpecifiedName()); near != "" {
		e.Hint = "did you mean --" + near + "?"
	}
	return e
}

// after are the arguments behind the last word before the first flag that is not known.
func after(args, words []string) []string {
	return args[slices.Index(args, words[len(words)-1])+1:]
}

// inFlags reports whether err is about a flag, or its value, on the command line.
func inFlags(err error) bool {
	_, unknown := errors.AsType[*pflag.NotExistError](err)
	_, empty := errors.AsType[*pflag.ValueRequiredError](err)
	_, invalid := errors.AsType[*pflag.InvalidValueError](err)
	_, syntax := errors.AsType[*pflag.InvalidSyntaxError](err)
	return unknown || empty || invalid || syntax
}

// mayDiffer is how many letters of a flag may be wrong for another to be suggested.
const mayDiffer = 2

// nearestFlag is the flag of cmd that was most likely meant by name, or "".
func nearestFlag(cmd *cobra.Command, name string) string {
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	return spelling.Nearest(name, known, min(mayDiffer, len(name)/2))
}

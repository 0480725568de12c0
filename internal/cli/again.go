package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// unchecked suggests the same call as a diff without the check, where the code would not compile after it.
func unchecked(cmd *cobra.Command, err error, answers ...string) error {
	if e, ok := errors.AsType[*report.Error](err); ok && projects.IsUncompiled(err) {
		if !cmd.Flags().Changed("diff") {
			answers = append(answers, "--diff")
		}
		e.Next = again(cmd, append(answers, "--no-typecheck"))
	}
	return err
}

// again is the same call once more. Answers are flags for what the command asked.
func again(cmd *cobra.Command, answers []string) string {
	words := []string{cmd.CommandPath()}
	for _, arg := range cmd.Flags().Args() {
		words = append(words, shellword.Quote(arg))
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { words = append(words, wordsOf(f)...) })
	for _, answer := range answers {
		if name, _, _ := strings.Cut(answer, "="); !slices.Contains(words, name) && !slices.Contains(words, answer) {
			words = append(words, strings.TrimSuffix(answer, "=true"))
		}
	}
	return strings.Join(words, " ")
}

// wordsOf are the words that give a flag its value once more: none for the usual one, and several for a list.
func wordsOf(f *pflag.Flag) (words []string) {
	if !f.Changed && f.Value.String() == f.DefValue {
		return nil
	}
	for _, value := range valuesOf(f) {
		switch plain := shellword.Quote(value) == value; {
		case f.NoOptDefVal != "" && value == f.NoOptDefVal:
			words = append(words, "--"+f.Name)
		case plain && f.NoOptDefVal == "":
			words = append(words, "--"+f.Name, value)
		default:
			words = append(words, "--"+f.Name+"="+shellword.Quote(value))
		}
	}
	return words
}

package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// placeKey is the annotation that holds a command's place among those beside it.
const placeKey = "place"

// addCommands adds commands to one above them, in the order in which help shows them:
// that of an operator's life, where cobra's own is the alphabet.
func addCommands(above *cobra.Command, commands ...*cobra.Command) {
	for i, c := range commands {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[placeKey] = fmt.Sprintf("%03d", i)
	}
	above.AddCommand(commands...)
}

// place sorts commands; cobra's own, which have none, come last.
func place(a, b *cobra.Command) int {
	return cmp.Compare(cmp.Or(a.Annotations[placeKey], "last"), cmp.Or(b.Annotations[placeKey], "last"))
}

// usage shows how a command is called; help shows it below the command's own text.
func usage(c *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if c.Runnable() {
		b.WriteString("\n  " + c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\n  " + c.CommandPath() + " [command]")
	}
	if c.HasExample() {
		b.WriteString("\n\nExamples:\n" + c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\n\nAvailable Commands:")
		for _, sub := range slices.SortedStableFunc(slices.Values(c.Commands()), place) {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if c.HasAvailableLocalFlags() {
		b.WriteString("\n\nFlags:\n" + trimRight(c.LocalFlags().FlagUsages()))
	}
	if c.HasAvailableInheritedFlags() {
		b.WriteString("\n\nGlobal Flags:\n" + trimRight(c.InheritedFlags().FlagUsages()))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse %q for more information about a command.", c.CommandPath()+" [command] --help")
	}
	_, err := fmt.Fprintln(c.OutOrStderr(), b.String())
	return err
}

func trimRight(s string) string { return strings.TrimRight(s, " \n") }

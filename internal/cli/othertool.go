package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/othertools"
	"github.com/slipway-dev/slipway/internal/report"
)

// otherTool answers a command of another tool that was typed after cmd, such as `slipway kind create cluster`, with the
// command that does the same; it is nil for other words.
func otherTool(cmd *cobra.Command, args []string) error {
	above := strings.Fields(cmd.CommandPath())[1:]
	words := append(above, args...)
	c, ok := othertools.Lookup(words)
	if !ok {
		return nil
	}
	ours := c.For(words)
	theirs := strings.TrimSpace(c.Tool + " " + c.Theirs)
	e := &report.Error{What: fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0]), Code: report.UsageCode, Next: ours}
	switch {
	case c.Ours == "":
		e.Hint = theirs + ": " + c.Note
	case c.Note == "":
		e.Hint = fmt.Sprintf("%q is %q here", theirs, ours)
	default:
		e.Hint = fmt.Sprintf("%q is %q here: %s", theirs, ours, c.Note)
	}
	if e.Next == "" {
		e.Next = cmd.CommandPath() + " --help"
	}
	return e
}

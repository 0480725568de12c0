package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/image/wire"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) imageListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the images that were built",
		Long:    `List lists the images that were built and are kept, by their names.`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := inv.images().List(cmd.Context())
			if err != nil {
				return err
			}
			value := struct {
				Images []wire.Listed `json:"images"`
			}{all}
			inv.handler.Handle(report.Result{Text: imageTable(all), Value: value})
			return nil
		},
	}
}

// imageTable tells images in columns.
func imageTable(all []wire.Listed) string {
	if len(all) == 0 {
		return "there are no images; `slipway image build -t NAME` builds one"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tDIGEST\tPLATFORMS\tCREATED\tSIZE")
	for _, i := range all {
		const short = len("sha256:") + 12
		fmt.Fprintf(w, "%s\t%.*s\t%s\t%s\t%s\n", i.Name, short, i.Digest, strings.Join(i.Platforms, ","), i.Created, mebibytes(i.Size))
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}

func (inv *invocation) imageRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME...",
		Aliases: []string{"rm"},
		Short:   "Remove images that were built",
		Long: `Remove removes images that were built from the user's cache. One that is not there is no mistake. What was pushed or
saved stays where it is.`,
		Example: `  slipway image remove operator:v1`,
		Args:    someImages,
		RunE: func(cmd *cobra.Command, args []string) error {
			removed, err := inv.images().Remove(cmd.Context(), args...)
			if err != nil {
				return err
			}
			lines := make([]string, len(removed))
			for i, name := range removed {
				lines[i] = "removed " + name
			}
			value := struct {
				Removed []string `json:"removed"`
			}{removed}
			inv.handler.Handle(report.Result{Text: strings.Join(lines, "\n"), Value: value})
			return nil
		},
	}
}

func someImages(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes names of images", Next: "slipway image list", Code: usageCode}
}

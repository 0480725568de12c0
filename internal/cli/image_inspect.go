package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/image/wire"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) imageInspectCommand() *cobra.Command {
	var in wire.Inspect
	cmd := &cobra.Command{
		Use:   "inspect NAME",
		Short: "Tell what an image is: digest, platforms, layers, entrypoint, labels",
		Long: `Inspect tells what an image that was built is: its digest and size, and for each platform the user, the entrypoint, labels
and layers. With --sbom it prints the bills of materials instead, in SPDX 2.3.`,
		Example: `  slipway image inspect operator:v1
  slipway image inspect operator:v1 --sbom > sbom.spdx.json`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Ref = args[0]
			i, err := inv.images().Inspect(cmd.Context(), in)
			if err != nil {
				return err
			}
			text := inspected(i)
			if in.SBOM {
				text = bills(i)
			}
			inv.handler.Handle(report.Result{Text: text, Value: i})
			return nil
		},
	}
	cmd.Flags().BoolVar(&in.SBOM, "sbom", false, "print the bills of materials")
	return cmd
}

// inspected tells an image in columns.
func inspected(i wire.Image) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\n  digest\t%s\n  type\t%s\n  size\t%s\n", i.Name, i.Digest, i.MediaType, mebibytes(i.Size))
	for _, p := range i.Platforms {
		fmt.Fprintf(w, "%s\n  digest\t%s\n  created\t%s\n  size\t%s\n  user\t%s\n  entrypoint\t%s\n", p.Platform, p.Digest, p.Created, mebibytes(p.Size),
			cmp.Or(p.User, "root"), strings.Join(p.Entrypoint, " "))
		if len(p.Command) > 0 {
			fmt.Fprintf(w, "  command\t%s\n", strings.Join(p.Command, " "))
		}
		for _, e := range p.Env {
			fmt.Fprintf(w, "  env\t%s\n", e)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
			fmt.Fprintf(w, "  label\t%s=%s\n", name, p.Labels[name])
		}
		for _, l := range p.Layers {
			fmt.Fprintf(w, "  layer\t%s %s %s\n", l.Digest, mebibytes(l.Size), l.Made)
		}
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}

// bills are the bills of materials of all platforms.
func bills(i wire.Image) string {
	var b bytes.Buffer
	for _, p := range i.Platforms {
		_ = json.Indent(&b, p.SBOM, "", "  ") // it came as JSON
		b.WriteByte('\n')
	}
	return b.String()
}

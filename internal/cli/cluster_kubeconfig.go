package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/atomicfile"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) clusterKubeconfigCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "kubeconfig [NAME]",
		Short: "Print the kubeconfig of a running cluster",
		Long: `Kubeconfig prints a kubeconfig that holds a running cluster alone, with its administrator's credentials.

With --out it writes a file that only you can read. A file that the shell makes, as with >, is usually
readable by every user of the machine, who then has all rights in the cluster; kubeconfig warns of that.`,
		Example: `  slipway cluster kubeconfig --out cluster.kubeconfig`,
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, text, err := inv.clusters().Kubeconfig(cmd.Context(), clusterName(args))
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("out") {
				return inv.writeKubeconfig(out, text)
			}
			if readable, is := readableByOthers(inv.Stdout); is {
				inv.handler.Handle(report.Warning{Text: fmt.Sprintf("other users of this machine can read the file that this goes to (%v), and have all rights in the cluster with it; --out FILE writes one that only you can read", readable)})
			}
			inv.handler.Handle(report.Result{Text: string(text), Value: kubeconfigFile{path, string(text)}})
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write to this `file`, which only you can read, and print its name")
	return cmd
}

// kubeconfigFile is a kubeconfig as programs get it.
type kubeconfigFile struct {
	Path       string `json:"path"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

// writeKubeconfig writes a file that only its user can read, from its first byte on.
func (inv *invocation) writeKubeconfig(path string, text []byte) error {
	if err := atomicfile.WriteSecret(path, text); err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		if l, ok := errors.AsType[*os.LinkError](err); ok {
			err = l.Err
		}
		return &report.Error{What: "the kubeconfig cannot be written", Where: path, Err: err,
			Hint: "a file, new or not, in a folder that you may write"}
	}
	inv.handler.Handle(report.Result{Text: "kubeconfig: " + path + ", which only you can read", Value: kubeconfigFile{Path: path}})
	return nil
}

// readableByOthers tells whether w is a file, not a pipe or a terminal, that others than its owner can read.
func readableByOthers(w io.Writer) (mode fs.FileMode, is bool) {
	f, ok := w.(*os.File)
	if !ok || runtime.GOOS == "windows" {
		return 0, false
	}
	info, err := f.Stat()
	if err != nil {
		return 0, false
	}
	return info.Mode().Perm(), info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0
}

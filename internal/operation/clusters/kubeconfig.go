package clusters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// PrintKubeconfig answers with the kubeconfig of a running cluster, and warns where others could read it.
func PrintKubeconfig(ctx context.Context, s *operation.Session, cluster string) (Kubeconfig, error) {
	path, text, err := clusterctl.New(s.Getenv, s.Handler).Kubeconfig(ctx, ResolveName(s, cluster))
	if err != nil {
		return Kubeconfig{}, err
	}
	if readable, is := readableByOthers(s.Stdout); is {
		s.Handler.Handle(report.Warning{Text: fmt.Sprintf("other users of this machine can read the output file (%v), which gives all rights in the cluster; --out FILE writes one that only you can read", readable)})
	}
	found := Kubeconfig{Path: path, Text: string(text)}
	s.Handler.Handle(report.Result{Text: found.Text, Value: found})
	return found, nil
}

// WriteKubeconfig writes the kubeconfig of a running cluster to a file that only its user can read, and returns where
// it is.
func WriteKubeconfig(ctx context.Context, s *operation.Session, cluster, file string) (Kubeconfig, error) {
	_, text, err := clusterctl.New(s.Getenv, s.Handler).Kubeconfig(ctx, ResolveName(s, cluster))
	if err != nil {
		return Kubeconfig{}, err
	}
	return writeKubeconfig(s, file, text)
}

// A Kubeconfig is that of a cluster; the JSON form is stable.
type Kubeconfig struct {
	Path string `json:"path"`
	Text string `json:"kubeconfig,omitempty"` // empty where it was written to Path
}

// writeKubeconfig writes a file that only its user can read, from its first byte on.
func writeKubeconfig(s *operation.Session, path string, text []byte) (Kubeconfig, error) {
	if err := safefs.WriteSecret(path, text); err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		if l, ok := errors.AsType[*os.LinkError](err); ok {
			err = l.Err
		}
		return Kubeconfig{}, &report.Error{What: "the kubeconfig cannot be written", Where: path, Err: err,
			Hint: "name a file in a folder that you may write to"}
	}
	written := Kubeconfig{Path: path}
	s.Handler.Handle(report.Result{Text: "kubeconfig: " + path + ", which only you can read", Value: written})
	return written, nil
}

// readableByOthers reports whether w is a file, not a pipe or a terminal, that others than its owner can read.
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

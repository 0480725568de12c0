package clusters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/slipway-dev/slipway/internal/atomicfile"
	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// PrintKubeconfig answers with the kubeconfig of a running cluster, and warns where others could read it.
func PrintKubeconfig(ctx context.Context, s *operation.Session, cluster string) error {
	path, text, err := clusterctl.New(s.Getenv, s.Handler).Kubeconfig(ctx, Meant(s, cluster))
	if err != nil {
		return err
	}
	if readable, is := readableByOthers(s.Stdout); is {
		s.Handler.Handle(report.Warning{Text: fmt.Sprintf("other users of this machine can read the output file (%v), which gives all rights in the cluster; --out FILE writes one that only you can read", readable)})
	}
	s.Handler.Handle(report.Result{Text: string(text), Value: kubeconfigFile{path, string(text)}})
	return nil
}

// WriteKubeconfig writes the kubeconfig of a running cluster to a file that only its user can read.
func WriteKubeconfig(ctx context.Context, s *operation.Session, cluster, file string) error {
	_, text, err := clusterctl.New(s.Getenv, s.Handler).Kubeconfig(ctx, Meant(s, cluster))
	if err != nil {
		return err
	}
	return writeKubeconfig(s, file, text)
}

// kubeconfigFile is a kubeconfig as programs get it.
type kubeconfigFile struct {
	Path       string `json:"path"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

// writeKubeconfig writes a file that only its user can read, from its first byte on.
func writeKubeconfig(s *operation.Session, path string, text []byte) error {
	if err := atomicfile.WriteSecret(path, text); err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		if l, ok := errors.AsType[*os.LinkError](err); ok {
			err = l.Err
		}
		return &report.Error{What: "the kubeconfig cannot be written", Where: path, Err: err,
			Hint: "name a file in a folder that you may write to"}
	}
	s.Handler.Handle(report.Result{Text: "kubeconfig: " + path + ", which only you can read", Value: kubeconfigFile{Path: path}})
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

package delivery

import (
	"context"
	"os"
	"os/exec"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	spawn "github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// Kubectl has kubectl take the place of this process, after what a killed run owes to its cluster was seen to. It
// returns only if that fails. Called reports whether slipway was called by the name kubectl, as the link among
// envtest's programs is: it is ours then, and not the one on PATH, which may be of any version.
func Kubectl(ctx context.Context, s *operation.Session, called bool, args []string) error {
	path, err := kubectl(ctx, s, called)
	if err != nil {
		return err
	}
	takeBackBeforeKubectl(ctx, s, args)
	if err := os.Setenv(handedTo, path); err != nil {
		return err
	}
	return spawn.Become(append([]string{path}, args...), os.Environ())
}

// handedTo is the variable with the kubectl that has taken slipway's place. One on PATH that runs slipway, as a script
// of `tools link` does, is not run again.
const handedTo = "SLIPWAY_KUBECTL"

// isThisProgram reports whether a path leads to the running program, as a link called kubectl may.
func isThisProgram(path string) bool {
	own, err := os.Executable()
	if err != nil {
		return false
	}
	ours, err := os.Stat(own)
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

// kubectl returns the path of kubectl: ours, or else the one on PATH, which may be of any version, or else ours once it
// is compiled.
func kubectl(ctx context.Context, s *operation.Session, called bool) (path string, err error) {
	clusters := clusterctl.New(s.Getenv, s.Handler)
	path, ok, err := clusters.FindKubectl(ctx)
	if ok || err != nil {
		return path, err
	}
	if !called {
		if path, err := exec.LookPath("kubectl"); err == nil && !isThisProgram(path) && s.Getenv(handedTo) != path {
			s.Handler.Handle(report.Note{Text: "slipway runs " + path + " from PATH, since its own kubectl is not compiled; slipway cluster build compiles it"})
			return path, nil
		}
		s.Handler.Handle(report.Note{Text: "there is no other kubectl on PATH; slipway compiles its own first"})
	}
	return clusters.Kubectl(ctx)
}

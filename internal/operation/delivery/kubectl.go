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

// Kubectl replaces this process with kubectl, after restoring what a killed run left changed in the cluster. It returns
// only on an error. Called reports whether slipway was started under the name kubectl, as by the link in envtest's
// folder. It then always runs slipway's own kubectl, since the one on PATH may have any version. With asData kubectl is
// a child, whose output is reported as results and lines.
func Kubectl(ctx context.Context, s *operation.Session, called, asData bool, args []string) error {
	path, err := kubectl(ctx, s, called)
	if err != nil {
		return err
	}
	takeBackBeforeKubectl(ctx, s, args)
	if err := os.Setenv(kubectlVariable, path); err != nil {
		return err
	}
	if asData {
		return kubectlAsData(ctx, s, path, args)
	}
	return spawn.Become(append([]string{path}, args...), os.Environ())
}

// kubectlVariable is the environment variable with the path of the kubectl that replaced slipway. If that is a script
// which runs slipway again, such as one of `tools link`, it is not run a second time.
const kubectlVariable = "SLIPWAY_KUBECTL"

// isThisProgram reports whether a path is the running program, as a link named kubectl may be.
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

// kubectl returns the path of kubectl: slipway's own if it is built, else the one on PATH, else slipway's own after
// building it.
func kubectl(ctx context.Context, s *operation.Session, called bool) (path string, err error) {
	clusters := clusterctl.New(s.Getenv, s.Handler)
	path, ok, err := clusters.FindKubectl(ctx)
	if ok || err != nil {
		return path, err
	}
	if !called {
		if path, err := exec.LookPath("kubectl"); err == nil && !isThisProgram(path) && s.Getenv(kubectlVariable) != path {
			s.Handler.Handle(report.Note{Text: "slipway runs " + path + " from PATH, since its own kubectl is not compiled; slipway cluster build compiles it"})
			return path, nil
		}
		s.Handler.Handle(report.Note{Text: "there is no other kubectl on PATH; slipway compiles its own first"})
	}
	return clusters.Kubectl(ctx)
}

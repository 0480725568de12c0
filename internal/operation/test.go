package operation

import (
	"context"
	"strings"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/clusterfile"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/report"
)

// Suites are the tests to run, and with which control planes.
type Suites struct {
	Args          []string // of go test
	Controllers   *string  // --controllers, as [clusterfile.ParseControllers] reads it; nil: not given
	SimulatedPods string   // --simulated-pods
	SimulatedJobs string   // --simulated-jobs
	Shared        bool     // one cluster for all packages, instead of a control plane each
}

// controllersVariable stands for --controllers where suites start a control plane each, which have it from there.
const controllersVariable = "SLIPWAY_CONTROLLERS"

// Test runs go test with a control plane for suites written with envtest. In a project, generated files are brought
// up to date first.
func (s *Session) Test(ctx context.Context, t Suites) error {
	suites, err := t.read(s.Environ)
	if err != nil {
		return err
	}
	root, err := s.projectRootOrNone()
	if err != nil {
		return err
	}
	plane := dev.ControlPlane{Assets: s.clusters().Assets, Program: s.clusters().Program, Share: s.shareCluster}
	return dev.Test(ctx, s.devOptions(s.Dir), root, suites, plane)
}

// read checks which controllers are asked for, by the flag or in the environment.
func (t Suites) read(environ []string) (dev.Suites, error) {
	suites := dev.Suites{Args: t.Args, Shared: t.Shared, SimulatedPods: t.SimulatedPods, SimulatedJobs: t.SimulatedJobs}
	text, where := t.Controllers, "--controllers"
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, controllersVariable+"="); ok && value != "" && t.Controllers == nil {
			text, where = &value, controllersVariable
		}
	}
	if err := t.checkHabits(text != nil); err != nil || text == nil {
		return suites, err
	}
	c, err := clusterfile.ParseControllers(*text)
	if err != nil {
		return suites, &report.Error{What: err.Error(), Where: where, Hint: clusterfile.Expected(err), Next: "slipway test --help", Code: mistaken}
	}
	if t.Controllers != nil || t.Shared {
		suites.Controllers, suites.ControllerNames = c.Run, c.Names
	}
	return suites, nil
}

// checkHabits refuses what cannot become of simulated pods, and any word about them where there are none.
func (t Suites) checkHabits(controllers bool) error {
	for flag, habit := range map[string]string{"--simulated-pods": t.SimulatedPods, "--simulated-jobs": t.SimulatedJobs} {
		if habit == "" {
			continue
		}
		if !controllers {
			return &report.Error{What: flag + " is for simulated pods, and without controllers no pod runs", Where: flag, Hint: "add --controllers",
				Next: "slipway test --help", Code: mistaken}
		}
		if err := clusterfile.CheckHabit(habit); err != nil {
			return &report.Error{What: err.Error(), Where: flag, Hint: clusterfile.Expected(err), Next: "slipway test --help", Code: mistaken}
		}
	}
	return nil
}

// shareCluster starts a cluster that lives no longer than this process.
func (s *Session) shareCluster(ctx context.Context, suites dev.Suites) (_ dev.Shared, end func() error, err error) {
	spec := clusterctl.Spec{Controllers: &suites.Controllers, ControllerNames: suites.ControllerNames,
		SimulatedPods: suites.SimulatedPods, SimulatedJobs: suites.SimulatedJobs}
	session, err := s.clusters().Tie(ctx, "test", clusterctl.Options{Spec: spec, Socket: true})
	if err != nil {
		return dev.Shared{}, nil, err
	}
	return dev.Shared{Kubeconfig: session.Kubeconfig, Socket: session.Socket}, session.Close, nil
}

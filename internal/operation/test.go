package operation

import (
	"context"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/dev"
)

// Suites are the tests to run, and with which control planes.
type Suites = dev.Suites

// Test runs go test with a control plane for suites written with envtest. In a project, generated files are brought
// up to date first.
func (s *Session) Test(ctx context.Context, suites Suites) error {
	root, err := s.projectRootOrNone()
	if err != nil {
		return err
	}
	plane := dev.ControlPlane{Assets: s.clusters().Assets, Program: s.clusters().Program, Share: s.shareCluster}
	return dev.Test(ctx, s.devOptions(s.Dir), root, suites, plane)
}

// shareCluster starts a cluster that lives no longer than this process.
func (s *Session) shareCluster(ctx context.Context, controllers bool) (_ dev.Shared, end func() error, err error) {
	session, err := s.clusters().Tie(ctx, "test", clusterctl.Options{Spec: clusterctl.Spec{Controllers: &controllers}, Socket: true})
	if err != nil {
		return dev.Shared{}, nil, err
	}
	return dev.Shared{Kubeconfig: session.Kubeconfig, Socket: session.Socket}, session.Close, nil
}

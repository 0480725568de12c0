// Package generation runs `slipway generate` and controller-gen on copies of one project, to measure and to compare
// them.
//
//	programs, err := generation.Build(ctx, dir)
//	err = generation.Copy(project, ours)
//	err = programs.Generate(ctx, ours).Run()
package generation

import (
	"context"
	"os/exec"

	"github.com/slipway-dev/slipway/bench/build"
)

// Programs are the paths of the two programs.
type Programs struct{ Slipway, Peer string }

// Build builds both into dir.
func Build(ctx context.Context, dir string) (Programs, error) {
	slipway, err := build.Slipway(ctx, dir)
	if err != nil {
		return Programs{}, err
	}
	peer, err := build.ControllerGen(ctx, dir)
	return Programs{slipway, peer}, err
}

// Generate runs `slipway generate`.
func (p Programs) Generate(ctx context.Context, project string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Slipway, "generate")
	cmd.Dir = project
	return cmd
}

// ControllerGen runs controller-gen as the Makefile of a kubebuilder project
// does, but all generators in one process, which is its best case.
func (p Programs) ControllerGen(ctx context.Context, project string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Peer,
		"object:headerFile=hack/boilerplate.go.txt", "crd:generateEmbeddedObjectMeta=true", "rbac:roleName=manager-role",
		"paths=./...", "output:crd:artifacts:config=config/crd/bases")
	cmd.Dir = project
	return cmd
}

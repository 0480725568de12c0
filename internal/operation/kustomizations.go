package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/bounded"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// online is a context in which kustomizations have addresses fetched, each of which is reported before, unless the
// command only looks. End removes what was fetched.
func (s *Session) online(ctx context.Context, looks bool) (online context.Context, end func()) {
	if looks {
		return ctx, func() {}
	}
	return bounded.Online(ctx, func(address string) {
		s.Handler.Handle(report.Note{Text: "fetching " + address + ", which a kustomization names"})
	})
}

// deployedFolder is the folder to deploy: the one that a flag names or, if that is empty, the one that the Makefile
// deploys. The error for one that is not certain names the command.
func (s *Session) deployedFolder(root, named, command string) (string, error) {
	if named != "" {
		return named, nil
	}
	deployed, err := s.codebase(root).Deployed()
	if err != nil {
		return "", err
	}
	folder, err := deployed.Folder()
	if unclear, ok := errors.AsType[*report.Error](err); ok {
		if main := s.codebase(root).Main(deployed); main != "" {
			unclear.Next = command + " -k " + shellword.Quote(main)
		}
	}
	if err != nil {
		return "", err
	}
	if folder != codebase.DeployedFolder {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("the kustomization is %s, which %s:%d deploys", folder, deployed.At.File, deployed.At.Line)})
	}
	return folder, nil
}

// requireKustomization refuses a folder without a kustomization, with those that the project has and the command for
// the first of them.
func (s *Session) requireKustomization(root, folder, command string) error {
	dir := within(root, folder)
	if kustomization.In(dir) {
		return nil
	}
	kustomizations, err := s.codebase(root).Config()
	if err != nil {
		return err
	}
	refused := &report.Error{What: "no kustomization in this folder", Where: dir, Hint: "expected a file named kustomization.yaml"}
	if tops := slices.DeleteFunc(kustomizations.Tops(), codebase.IsSamples); len(tops) > 0 {
		refused.Hint = "-k names another folder; the project has kustomizations in " + strings.Join(tops, ", ")
		refused.Next = command + " -k " + shellword.Quote(tops[0])
	}
	return refused
}

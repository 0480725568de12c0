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

// An again is the command line that runs a command again with the kustomization of a folder.
type again func(folder string) string

// againWith is that of a command with the flags that are set.
func againWith(command string, flags ...setFlag) again {
	return func(folder string) string {
		words := []string{command}
		if folder != "" {
			words = append(words, "-k", shellword.Quote(folder))
		}
		for _, flag := range flags {
			if flag.set {
				words = append(words, flag.text)
			}
		}
		return strings.Join(words, " ")
	}
}

// A setFlag is a flag of a command line, if it is set.
type setFlag struct {
	set  bool
	text string
}

// deployedFolder is the folder to deploy: the one that a flag names or, if that is empty, the one that the Makefile
// deploys. The error for one that is not certain has the command that names it.
func (s *Session) deployedFolder(root, named string, command again) (string, error) {
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
			unclear.Next = command(main)
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

// chartSource is the folder to make a chart of: the one that is deployed, or config/default where the target deploy
// builds none, such as one that installs the chart.
func (s *Session) chartSource(root string, c Chart) (string, error) {
	code := s.codebase(root)
	if deployed, err := code.Deployed(); err == nil && c.Config == "" && deployed.None && code.Main(deployed) != "" {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("the chart is made of %s: %s: the target deploy builds no kustomization", codebase.DeployedFolder, deployed.Place())})
		return codebase.DeployedFolder, nil
	}
	return s.deployedFolder(root, c.Config, c.again())
}

// requireKustomization refuses a folder without a kustomization, with those that the project has and the command for
// the first of them.
func (s *Session) requireKustomization(root, folder string, command again) error {
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
		refused.Next = command(tops[0])
	}
	return refused
}

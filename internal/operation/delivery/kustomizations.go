package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/kustomizefs"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/spelling"
)

// Online returns a context in which kustomize may fetch remote resources, with a note for each. If looks is set nothing
// is fetched. End deletes what was fetched.
func Online(ctx context.Context, s *operation.Session, looks bool) (online context.Context, end func()) {
	if looks {
		return ctx, func() {}
	}
	return kustomizefs.Online(ctx, func(address string) {
		s.Handler.Handle(report.Note{Text: "fetching " + address + ", which a kustomization names"})
	})
}

func (t Target) flags() []operation.OptionalFlag {
	return []operation.OptionalFlag{
		operation.FlagIf(t.Kubeconfig != "", "--kubeconfig "+shellword.Quote(t.Kubeconfig)), operation.FlagIf(t.Context != "", "--context "+shellword.Quote(t.Context)),
	}
}

// DeployedFolder returns the folder to deploy: named, or if that is empty the one that the Makefile deploys. If that is
// uncertain, the error advises a command that names the likely folder.
func DeployedFolder(s *operation.Session, root, named string, command operation.CommandLine) (string, error) {
	if named != "" {
		return named, nil
	}
	deployed, err := s.Codebase(root).Deployed()
	if err != nil {
		return "", err
	}
	folder, err := deployed.Folder()
	if unclear, ok := errors.AsType[*report.Error](err); ok {
		if main := s.Codebase(root).Main(deployed); main != "" {
			unclear.Next = command(main)
		}
	}
	if err != nil {
		return "", err
	}
	if folder != codebase.DeployedFolder {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("the kustomization is %s, which %s:%d deploys", folder, deployed.At.File, deployed.At.Line)})
	}
	if len(deployed.Also) > 0 && !strings.HasPrefix(command(""), "slipway undeploy") {
		s.Handler.Handle(report.Note{Text: strings.Join(deployed.Also, ",\n") + ", which deploy does not"})
	}
	return folder, nil
}

// RequireKustomization refuses a folder without a kustomization. The error lists the project's kustomizations and
// advises a command with the likely one.
func RequireKustomization(s *operation.Session, root, folder string, command operation.CommandLine) error {
	dir := ResolveFolder(root, folder)
	if kustomization.In(dir) {
		return nil
	}
	all, err := s.Codebase(root).Config()
	if err != nil {
		return err
	}
	choices := DeployableFolders(all)
	refused := &report.Error{Class: report.BadProject, What: "no kustomization in this folder", Where: dir}
	if len(choices) == 0 {
		refused.Hint = "expected a file named kustomization.yaml, and the project has none that can be deployed. Write one that lists the operator's objects, " +
			"as slipway init does in " + codebase.DeployedFolder + ", or name another folder with -k"
		return refused
	}
	refused.Hint = "-k names another folder; the project has kustomizations in " + strings.Join(choices, ", ")
	switch meant := nearestFolder(folder, all.Folders()); {
	case meant != "":
		refused.Next = command(meant)
	case folder == codebase.DeployedFolder: // no flag named it
		refused.Next = command(cmp.Or(s.Codebase(root).Main(codebase.Deployed{Folders: choices}), choices[0]))
	case len(choices) == 1 || choices[0] == codebase.DeployedFolder:
		refused.Next = command(choices[0])
	}
	return refused
}

// DeployableFolders returns the folders whose kustomizations may be deployed, config/default first.
func DeployableFolders(all *codebase.Kustomizations) []string {
	choices := slices.DeleteFunc(all.Tops(), codebase.IsSamples)
	if usual := codebase.DeployedFolder; slices.Contains(all.Folders(), usual) {
		choices = append([]string{usual}, slices.DeleteFunc(choices, func(f string) bool { return f == usual })...)
	}
	return choices
}

// nearestFolder returns the folder with the most similar name, or "" if there is none or a tie.
func nearestFolder(name string, folders []string) (nearest string) {
	name = path.Clean(filepath.ToSlash(name))
	best, mostWrong := 1+min(3, len(name)/4), 3
	for _, folder := range folders {
		switch distance := spelling.Distance(name, folder, mostWrong); {
		case distance < best:
			nearest, best = folder, distance
		case distance == best:
			nearest = ""
		}
	}
	return nearest
}

package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/bounded"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/spelling"
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

// flags are those that name the cluster.
func (t Target) flags() []setFlag {
	return []setFlag{{t.Kubeconfig != "", "--kubeconfig " + shellword.Quote(t.Kubeconfig)}, {t.Context != "", "--context " + shellword.Quote(t.Context)}}
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
	if len(deployed.Also) > 0 && !strings.HasPrefix(command(""), "slipway undeploy") {
		s.Handler.Handle(report.Note{Text: strings.Join(deployed.Also, ",\n") + ", which deploy does not"})
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

// requireKustomization refuses a folder without a kustomization, with those that the project has, and the command for
// the one that is most likely meant.
func (s *Session) requireKustomization(root, folder string, command again) error {
	dir := within(root, folder)
	if kustomization.In(dir) {
		return nil
	}
	all, err := s.codebase(root).Config()
	if err != nil {
		return err
	}
	choices := applicable(all)
	refused := &report.Error{What: "no kustomization in this folder", Where: dir}
	if len(choices) == 0 {
		refused.Hint = "expected a file named kustomization.yaml, and the project has none that can be deployed. Write one that lists the operator's objects, " +
			"as slipway init does in " + codebase.DeployedFolder + ", or name another folder with -k"
		return refused
	}
	refused.Hint = "-k names another folder; the project has kustomizations in " + strings.Join(choices, ", ")
	switch meant := nearestFolder(folder, all.Folders()); {
	case meant != "":
		refused.Next = command(meant)
	case folder == codebase.DeployedFolder: // no flag names it
		refused.Next = command(cmp.Or(s.codebase(root).Main(codebase.Deployed{Folders: choices}), choices[0]))
	case len(choices) == 1 || choices[0] == codebase.DeployedFolder:
		refused.Next = command(choices[0])
	}
	return refused
}

// applicable are the folders of kustomizations that may be deployed, the most likely one first.
func applicable(all *codebase.Kustomizations) []string {
	choices := slices.DeleteFunc(all.Tops(), codebase.IsSamples)
	if usual := codebase.DeployedFolder; slices.Contains(all.Folders(), usual) {
		choices = append([]string{usual}, slices.DeleteFunc(choices, func(f string) bool { return f == usual })...)
	}
	return choices
}

// nearestFolder is the folder of a similar name; "" without one, or with several.
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

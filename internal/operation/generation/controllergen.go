package generation

import (
	"cmp"
	"context"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/toollink"
)

// Generators is a run of generators with controller-gen's own command line.
type Generators struct {
	generate.Options        // the command line's
	Explain          string // command that explains markers, for errors
}

// ControllerGen generates in the working folder as controller-gen does, and like it reports only mistakes. It writes to
// any folder that the command line names, but not through a link that leads out of the project. It returns the action
// for each file.
func ControllerGen(ctx context.Context, s *operation.Session, g Generators) (generate.Result, error) {
	g.Within, g.Besides = []string{operation.Surroundings(s)}, true
	g.Dir, g.Lenient, g.Cache, g.Files = s.Dir, true, RunsFolder(s), s.Folder(s.Dir)
	if !semver.IsValid(g.Version) {
		g.Version = "" // such as latest
	}
	if later, err := generate.Supports(g.Version, "controller-gen"); err != nil {
		return generate.Result{}, err
	} else if later {
		s.Handler.Handle(report.Warning{Text: "controller-gen " + g.Version + " is newer than " + generate.Newest + ": the files are those of " + generate.Newest + " and name " + g.Version})
	}
	defer s.Collector.Patiently()()
	result, err := generate.Run(ctx, g.Options)
	for _, f := range result.Findings {
		s.Handler.Handle(f)
	}
	if err != nil {
		return generate.Result{}, err
	}
	if result.Failed() {
		return generate.Result{}, &report.Error{What: "nothing was generated: the mistakes are reported above", Next: g.Explain}
	}
	_, err = s.Stdout.Write(result.Printed)
	return result, err
}

// ControllerGenOf returns the version of controller-gen that the project of the session's folder uses, or the newest
// one whose files are written.
func ControllerGenOf(s *operation.Session) (string, error) {
	root, err := operation.GeneratedRoot(s)
	if err != nil {
		return generate.Newest, nil // outside of a project there is none
	}
	plan, _, err := regenerate.PlanFor(root, s.Codebase(root))
	if err != nil {
		return "", err
	}
	return cmp.Or(plan.Pin().Version, generate.Newest), nil
}

// CalledAs returns the name under which the program was called. A script of `tools link` passes it in the environment.
func CalledAs(s *operation.Session, own string) string {
	return cmp.Or(s.Getenv(toollink.CalledAs), own)
}

// StandsFor returns the version of the tool that the program stands in for, or "". A script of `tools link` passes it;
// otherwise it is inName.
func StandsFor(s *operation.Session, inName string) string {
	return cmp.Or(s.Getenv(toollink.StandsFor), inName)
}

// InPlaceOf returns a suffix for version output that names the version slipway stands in for. Older Makefiles search a
// tool's version output for the version that they want.
func InPlaceOf(version, other string) string {
	if other == "" || other == version {
		return ""
	}
	return " (in place of " + other + ")"
}

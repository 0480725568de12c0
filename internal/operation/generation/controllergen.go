package generation

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/codebase"
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
	if later, err := generate.Supports(g.Version, "controller-gen", NextVersion); err != nil {
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
		return generate.Result{}, &report.Error{Class: report.BadProject, What: "nothing was generated: the mistakes are reported above", Next: g.Explain}
	}
	_, err = s.Stdout.Write(result.Printed)
	return result, err
}

// NextVersion is a command of controller-gen with the oldest version that is supported.
const NextVersion = toollink.StandsFor + "=" + generate.Oldest + " slipway controller-gen --help"

// ControllerGenOf returns the version of controller-gen that the project of the session's folder uses, or the newest
// one whose files are written. Mistakes in the project's files do not matter here: the command line is complete without
// them.
func ControllerGenOf(s *operation.Session) string {
	root, err := operation.GeneratedRoot(s)
	if err != nil {
		return generate.Newest // outside of a project there is none
	}
	pins, _ := s.Codebase(root).ControllerGens() // what follows reports an error
	if i := slices.IndexFunc(pins, codebase.ControllerGen.IsOne); i >= 0 {
		return pins[i].Version
	}
	if plan, _, err := regenerate.PlanFor(root, s.Codebase(root)); err == nil { // the CRDs' version
		return plan.Pin().Version
	}
	s.Handler.Handle(report.Warning{Text: "the project's version of controller-gen is not known, since its files have mistakes: slipway generate reports them"})
	return generate.Newest
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

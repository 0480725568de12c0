package generation

import (
	"cmp"
	"context"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/toollink"
)

// Generators are what to generate as controller-gen does, with a command line of its own.
type Generators struct {
	generate.Options        // as its arguments say
	Explain          string // the command line that explains markers, for the error about mistakes in them
}

// ControllerGen generates below the working folder. Like controller-gen it reports mistakes only. It writes to any
// folder that its command line names, and through no link that leads out of the project. It returns what became
// of each file.
func ControllerGen(ctx context.Context, s *operation.Session, g Generators) (generate.Result, error) {
	g.Within, g.Besides = []string{operation.Surroundings(s)}, true
	g.Dir, g.Lenient, g.Cache, g.Files = s.Dir, true, RunsFolder(s), s.Folder(s.Dir)
	if !semver.IsValid(g.Version) {
		g.Version = "" // such as latest
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

// CalledAs is the name that the program was called by: the one that a script of ours reports, or else its own.
func CalledAs(s *operation.Session, own string) string {
	return cmp.Or(s.Getenv(toollink.CalledAs), own)
}

// StandsFor is the version that the program stands for: the one that a script of ours reports, or else the one in the
// program's name; "" is its own.
func StandsFor(s *operation.Session, inName string) string {
	return cmp.Or(s.Getenv(toollink.StandsFor), inName)
}

// InPlaceOf says which other version the program stands for here: older Makefiles look for
// theirs in what a tool reports about its version.
func InPlaceOf(version, other string) string {
	if other == "" || other == version {
		return ""
	}
	return " (in place of " + other + ")"
}

package program

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/gocommand"
)

// Install is how the go command makes programs of a released version. The bytes follow from the version, the Go and the
// platform alone, so that a release has the very programs that a user's machine compiles.
//
// Packages are the paths of the programs; stamp are further flags for the linker, which only slipway itself has.
func Install(version string, stamp []string, packages ...string) (args []string) {
	args = slices.Concat([]string{"install"}, releaseFlags(stamp))
	for _, path := range packages {
		args = append(args, path+"@"+version)
	}
	return args
}

// releaseFlags are the flags of the go command for programs of a released version.
func releaseFlags(stamp []string) []string {
	return []string{"-v", "-buildvcs=false", "-trimpath", gocommand.NoDebugging, "-ldflags=" + strings.Join(append([]string{"-s", "-w"}, stamp...), " ")}
}

// InstallEnvironment is the environment for [Install] for a platform: the user's, without the settings that change
// bytes. A caller adds where programs go: GOBIN, or GOPATH for another platform than this one.
func InstallEnvironment(ctx context.Context, goos, goarch string) ([]string, error) {
	env, err := gocommand.Read(ctx)
	if err != nil {
		return nil, err
	}
	return releaseVariables(env, goos, goarch), nil
}

func releaseVariables(env *gocommand.Environment, goos, goarch string) []string {
	return env.With("CGO_ENABLED=0", "GOWORK=off", "GOOS="+goos, "GOARCH="+goarch)
}

// recipe is how the go command makes a product.
type recipe struct {
	args  []string // of the go command
	alike []string // the flags among them that `go list` needs in order to report what is yet to be compiled
	env   []string // further variables
}

// recipe is how p is made from src, whose sources are in dir; programs go to out. Temporary files of the go command go
// there, too: they are removed with the folder, also after a kill.
func (p *product) recipe(src source, dir, out string) (recipe, error) {
	pinned, err := p.pinned(dir, out)
	if err != nil {
		return recipe{}, err
	}
	env := []string{"GOTMPDIR=" + out}
	if src.version != "" && pinned == nil {
		return recipe{args: Install(src.version, nil, p.packages()...), alike: []string{"-trimpath", gocommand.NoDebugging}, env: append(env, "GOBIN="+out)}, nil
	}
	alike := append([]string{"-trimpath", gocommand.NoDebugging}, pinned...)
	flags := append([]string{"-v", "-buildvcs=false", "-ldflags=-s -w"}, alike...)
	return recipe{args: slices.Concat([]string{"build"}, flags, []string{"-o", out}, mains(p.programs)), alike: alike, env: env}, nil
}

// A ReleaseUnit is what one run of the go command makes of a release: programs of one module.
type ReleaseUnit struct {
	Module   string
	Programs []string // without the ends of their files' names
	Packages []string // their import paths
}

// ReleaseUnits are all programs in the archive of a system, apart from slipway itself, in the order in which they are
// compiled best: the large ones first.
func ReleaseUnits(goos string) []ReleaseUnit {
	var units []ReleaseUnit
	for _, p := range releasedProducts(goos) {
		units = append(units, ReleaseUnit{Module: p.module, Programs: p.programs, Packages: p.packages()})
	}
	return units
}

// releasedProducts are those that the archive of a system has.
func releasedProducts(goos string) []*product {
	all := []*product{clusterProduct(), kubectlProduct(), checkProduct(), codegenProduct()}
	if goos == "linux" {
		all = slices.Insert(all, 1, nodeProduct())
	}
	return all
}

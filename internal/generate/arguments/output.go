package arguments

import (
	"cmp"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

// Output says where a generator's files go. The zero value puts code beside the
// code that it belongs to, and configuration into config/<generator>.
type Output struct {
	// To is whether they go to files at all.
	To Destination
	// Config is the folder of configuration.
	Config string
	// Code is the folder of code; all packages' code then has the same one.
	Code string
}

// Destination is what files of a generator are written to.
type Destination int

// The destinations.
const (
	ToFiles   Destination = iota
	ToStdout              // one after the other, for the caller to print
	ToNothing             // made, and mistakes reported, but not written
)

// Folder is where a generator's configuration goes, with slashes where nothing else is given.
func (o Output) Folder(generator string) string {
	return cmp.Or(o.Config, "config/"+generator)
}

// outputRule is the value of an argument that begins with output.
type outputRule interface{ output() Output }

// The rules, as values of arguments.
type (
	artifactsRule struct {
		Config string `doc:"is the folder of configuration"`
		Code   string `marker:",optional" doc:"is the folder of code, in place of that of its package"`
	}
	dirRule    string
	noneRule   struct{}
	stdoutRule struct{}
)

func (r artifactsRule) output() Output {
	return Output{Config: cmp.Or(r.Config, "."), Code: r.Code}
}

func (r dirRule) output() Output {
	dir := cmp.Or(string(r), ".")
	return Output{Config: dir, Code: dir}
}

func (noneRule) output() Output   { return Output{To: ToNothing} }
func (stdoutRule) output() Output { return Output{To: ToStdout} }

// Rules are the arguments that name an output rule: the default one with the prefix output, that of a generator with
// output:<generator>.
func Rules(prefix string) []marker.Definition {
	return []marker.Definition{
		marker.Define[artifactsRule](prefix+":artifacts", marker.Package, "writes configuration to one folder, and code beside its package or to another folder"),
		marker.Define[dirRule](prefix+":dir", marker.Package, "writes everything to one folder"),
		marker.Define[noneRule](prefix+":none", marker.Package, "writes nothing"),
		marker.Define[stdoutRule](prefix+":stdout", marker.Package, "writes everything to standard output, one file after the other"),
	}
}

// generatorOf returns the generator that an output rule is for; the default rule is for none.
func generatorOf(rule string) (generator string, own bool) {
	parts := strings.Split(rule, ":")
	if len(parts) < 3 {
		return "", false
	}
	return parts[1], true
}

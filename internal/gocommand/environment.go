package gocommand

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// Environment is what commands run with.
type Environment struct {
	variables []string
	settings  map[string]string
	// Ignored are flags in the user's GOFLAGS that would make other programs, and are not used.
	Ignored []string
}

// theirs are the settings of the go command that a user has and that change no bytes: where modules come from, where
// caches are.
var theirs = []string{"GOAUTH", "GOCACHE", "GOCACHEPROG", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOPATH", "GOPRIVATE", "GOPROXY", "GOSUMDB", "GOTMPDIR",
	"GOTOOLCHAIN", "GOVCS"}

// alike are those that change bytes, at the values that Go has by default.
var alike = []string{"GOENV=off", "GOEXPERIMENT=", "GOFIPS140=off", "GODEBUG=", "GO111MODULE=on", "GO386=sse2", "GOAMD64=v1", "GOARM=7", "GOARM64=v8.0", "GOMIPS=hardfloat",
	"GOMIPS64=hardfloat", "GOPPC64=power8", "GORISCV64=rva20u64", "GOWASM=", "CGO_ENABLED=0"}

// harmless are variables with a name of the go command's that its runtime reads, and those of a user who has more than
// one Go.
var harmless = []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOROOT"}

// NoDebugging has compilers leave out what only debuggers read, and the linker drops from released programs: a fifth of
// a cold compile. All programs and images have the same flags, and so do the Makefile and tests, so that a package is
// compiled once.
const NoDebugging = "-gcflags=all=-dwarf=false"

// Read asks the go command for the user's settings.
func Read(ctx context.Context) (*Environment, error) {
	e := &Environment{settings: map[string]string{}}
	var out, said bytes.Buffer
	ask := Command{Dir: string(filepath.Separator), Env: append(os.Environ(), "GOWORK=off"), Args: []string{"env", "-json"}, Stdout: &out, Stderr: &said}
	if err := ask.Run(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if IsMissing(err) {
			return nil, missing(err)
		}
		return nil, e.unread(said.String(), err)
	}
	if err := json.Unmarshal(out.Bytes(), &e.settings); err != nil && out.Len() > 0 {
		return nil, &report.Error{What: "the go command does not report its settings", Where: "go env -json", Err: err}
	}
	if err := e.homeless(); err != nil {
		return nil, err
	}
	e.variables = append(foreign(os.Environ()), alike...)
	for _, name := range theirs {
		if value := e.settings[name]; value != "" { // or else the default, as the file of go env -w is off
			e.variables = append(e.variables, name+"="+value)
		}
	}
	e.variables = append(e.variables, "GOFLAGS="+e.flags())
	return e, nil
}

func missing(err error) error {
	return &report.Error{What: "the go command is not on PATH", Err: err, Hint: "install Go from https://go.dev/dl"}
}

// unread explains why there are no settings.
func (e *Environment) unread(said string, err error) error {
	if refused, ok := errors.AsType[*report.Error](err); ok {
		return refused
	}
	if unusable := e.Explain(said, ""); unusable != nil {
		return unusable
	}
	if _, unset := os.UserHomeDir(); unset != nil {
		return &report.Error{What: "the go command has no folder for its caches", Where: "HOME", Err: unset,
			Hint: "set HOME to your home folder, or GOCACHE and GOMODCACHE to folders that you may write to"}
	}
	return &report.Error{What: "the go command does not report its settings", Where: "go env -json", Err: err, Hint: strings.TrimSpace(said)}
}

// errNoPlace is why a cache has no place.
var errNoPlace = errors.New("it names no folder")

// homeless explains settings that name no place for caches.
func (e *Environment) homeless() error {
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		place, told := e.settings[name]
		if told && (place == "" || place == "off") {
			_, why := os.UserHomeDir()
			if why == nil {
				why = fmt.Errorf("%w: %q", errNoPlace, place)
			}
			return &report.Error{What: "the go command has no folder for its cache", Where: name, Err: why,
				Hint: "set HOME to your home folder, or " + name + " to a folder that you may write"}
		}
	}
	return nil
}

// foreign are variables that are not the go command's. Its own and those of C compilers are decided here.
func foreign(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		own := strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_") || slices.Contains([]string{"AR", "CC", "CXX", "FC", "GCCGO", "PKG_CONFIG"}, name)
		return own && !slices.Contains(harmless, name)
	})
}

// defaults are flags that builds have anyway: they work without git and decide themselves whether to name the commit,
// change no go.mod, and have no tables for debuggers.
var defaults = []string{"-buildvcs=false", "-buildvcs=auto", "-mod=readonly", NoDebugging}

// flags are those of the user's GOFLAGS that change no bytes. The others are noted.
func (e *Environment) flags() string {
	var used []string
	for _, flag := range strings.Fields(e.settings["GOFLAGS"]) {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		switch name {
		case "modcacherw", "p":
			used = append(used, flag)
		case "v", "x", "work", "trimpath", "vet", "count", "timeout": // the last three are for go test
		case "buildvcs", "mod", "gcflags":
			if !slices.Contains(defaults, "-"+strings.TrimLeft(flag, "-")) {
				e.Ignored = append(e.Ignored, flag)
			}
		default:
			e.Ignored = append(e.Ignored, flag)
		}
	}
	return strings.Join(used, " ")
}

// With are all variables of a command, with some more or others.
func (e *Environment) With(variables ...string) []string {
	return slices.Concat(e.variables, variables)
}

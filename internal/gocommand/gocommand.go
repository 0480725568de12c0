// Package gocommand runs the go command for what slipway compiles: managers for images, and its own programs.
//
//	env, err := gocommand.Read(ctx)                     // the user's settings, asked for once
//	cmd := gocommand.Command{Dir: dir, Env: env.With("GOWORK=off"), Args: []string{"build", "./cmd"}, Stderr: &said}
//	err = cmd.Run(ctx)
//	if e := env.Explain(said.String(), out); e != nil { … }  // a disk that is full, a folder that is not there
//
// The same sources are to make the same bytes for each user. So whatever changes what is compiled has the value here
// that the Go installation has by default: flags, experiments, levels of processors, a workspace. The settings of the
// user that say where modules come from and where caches are, which change no bytes, are the user's, also those of
// `go env -w`.
//
// A command runs in a process group of its own: when its context ends, it ends with all compilers that it has started.
package gocommand

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"

	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/processgroup"
)

// Command is one run of the go command.
type Command struct {
	Dir            string
	Env            []string
	Args           []string
	Stdout, Stderr io.Writer
}

// Run runs the command. When ctx is done, it ends the command with everything that it has started and returns ctx's
// error.
func (c Command) Run(ctx context.Context) error {
	defer ending.Await(ctx, shown(c.Args))()
	cmd := exec.CommandContext(ctx, "go", c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, c.Stdout, c.Stderr
	err := processgroup.Run(cmd)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// shown is a command as messages name it: without its flags and arguments.
func shown(args []string) string {
	return strings.Join(append([]string{"go"}, args[:min(len(args), 1)]...), " ")
}

// IsMissing says whether an error of [Command.Run] is that there is no go command.
func IsMissing(err error) bool { return errors.Is(err, exec.ErrNotFound) }

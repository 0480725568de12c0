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
	"time"
)

// Command is one run of the go command.
type Command struct {
	Dir            string
	Env            []string
	Args           []string
	Stdout, Stderr io.Writer
}

// killDelay is how long the go command may take to end its compilers after an interrupt before all of them are killed.
const killDelay = 2 * time.Second

// Run runs the command. When ctx is done, it ends the command with everything that it has started and returns ctx's
// error.
func (c Command) Run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, c.Stdout, c.Stderr
	ownGroup(cmd)
	cmd.Cancel = func() error { return interruptGroup(cmd) }
	cmd.WaitDelay = killDelay
	err := cmd.Start()
	if err == nil {
		err = cmd.Wait()
		killGroup(cmd)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// IsMissing says whether an error of [Command.Run] is that there is no go command.
func IsMissing(err error) bool { return errors.Is(err, exec.ErrNotFound) }

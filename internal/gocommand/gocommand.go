// Package gocommand runs the go command, and is the only package that does: for what slipway compiles, for what it asks
// about modules, and for the user's tests.
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
// A command ends with all compilers that it has started when its context ends.
//
// The go command writes go.mod, go.sum, go.work and go.work.sum through links. A repository may have one as a link to
// elsewhere: then the command is refused. A command that only looks gets copies of these files, see [Copies].
package gocommand

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/process"
)

// Command is one run of the go command.
type Command struct {
	Dir            string
	Env            []string
	Args           []string
	Stdout, Stderr io.Writer
	// Grace is how long the command may take to end after an interrupt; 0 means two seconds.
	Grace time.Duration
	// Copies are what the command gets in place of files that it might write to.
	Copies Copies
}

// killDelay is how long the go command may take to end its compilers after an interrupt before all of them are killed.
const killDelay = 2 * time.Second

// Run runs the command. When ctx is done, it ends the command with everything that it has started and returns ctx's
// error.
func (c Command) Run(ctx context.Context) error {
	defer ending.Await(ctx, shown(c.Args))()
	if c.Env == nil {
		c.Env = os.Environ()
	}
	done, err := c.shield()
	if err != nil {
		return err
	}
	defer done()
	cmd, err := process.Command("go", c.Args...)
	if err != nil {
		return err
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, c.Stdout, c.Stderr
	err = process.Supervise(ctx, cmd, cmp.Or(c.Grace, killDelay))
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
func IsMissing(err error) bool { return process.IsMissing(err) }

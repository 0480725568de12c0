// Package processgroup ends a command with everything that it has started.
//
//	err := processgroup.Run(exec.CommandContext(ctx, "git", …))
package processgroup

import (
	"os/exec"
	"time"
)

// delay is how long a command may take to end once it was asked to.
const delay = 2 * time.Second

// Run runs a command that was made with a context. When that is done, the command is interrupted with all that it has
// started, and killed when it does not end.
func Run(cmd *exec.Cmd) error {
	own(cmd)
	cmd.Cancel = func() error { return interrupt(cmd) }
	cmd.WaitDelay = delay
	err := cmd.Start()
	if err == nil {
		err = cmd.Wait()
		kill(cmd)
	}
	return err
}

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/slipway-dev/slipway/internal/report"
)

// Become runs the program argv[0] in place of this process, as far as the system
// has that: with its streams and its exit status.
func Become(argv, environ []string) error {
	cmd, err := Command(argv[0], argv[1:]...)
	if err != nil {
		return err
	}
	cmd.Env = environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &report.Error{What: fmt.Sprintf("%s ended with status %d", argv[0], exit.ExitCode()), Code: exit.ExitCode()}
	}
	return err
}

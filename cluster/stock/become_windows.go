package stock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// become runs a program with this one's streams and returns its exit status.
func become(path string, args []string) (status int, err error) {
	cmd := exec.Command(path, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", path, err)
	}
	return 0, nil
}

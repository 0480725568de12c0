package load

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"

	"github.com/slipway-dev/slipway/internal/gocommand"
)

// goOutput runs a command of the go command, such as list, for the modules and returns what it prints. The error has
// what it said. It writes nothing, so it gets copies of the files that it works with.
func (m *modules) goOutput(args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	cmd := gocommand.Command{Dir: m.root, Args: args, Stdout: &out, Stderr: &said}
	if len(m.mains) > 0 {
		cmd.Dir = m.mains[0].dir
	}
	switch {
	case m.vendor != "":
	case m.work != "":
		cmd.Copies.Work = m.work
	default:
		cmd.Copies.Mod = m.loader.modFileOf(m.root)
	}
	err := cmd.Run(m.loader.config.Context)
	if text := strings.TrimSpace(said.String()); text != "" {
		if _, exited := errors.AsType[*exec.ExitError](err); exited {
			err = errors.New(text)
		}
	}
	return out.Bytes(), err
}

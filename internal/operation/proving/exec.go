package proving

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
)

// execGrace is how long a command may take to end when it is asked to.
const execGrace = time.Second

// program prepares a command of the scenario, which prints to a log. It runs in the scenario's folder, as does a
// program whose name is a path.
func (b *bench) program(words []string, log *os.File) (*exec.Cmd, error) {
	folder := filepath.Dir(b.Absolute(b.proof.Scenario))
	name := words[0]
	if strings.ContainsRune(filepath.ToSlash(name), '/') && !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	cmd, err := process.Command(name, words[1:]...)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = folder, log, log, slices.Clone(b.Environ)
	return cmd, nil
}

// exec runs a command of the scenario until it ends or ctx does, with all that it starts.
func (b *bench) exec(ctx context.Context, words []string, kubeconfig string) error {
	log, err := appendTo(b.log())
	if err != nil {
		return err
	}
	defer log.Close()
	cmd, err := b.program(words, log)
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
	err = process.Supervise(ctx, cmd, execGrace)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	return nil
}

// appendTo opens a log for what is to be written behind its end.
func appendTo(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// tailSize bounds how much of a log is shown, in bytes.
const tailSize = 2 << 10

// tail is the end of a log.
func tail(path string) string {
	log, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer log.Close()
	if _, err := log.Seek(-tailSize, io.SeekEnd); err != nil {
		_, _ = log.Seek(0, io.SeekStart) // it is shorter
	}
	text, err := io.ReadAll(io.LimitReader(log, tailSize))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

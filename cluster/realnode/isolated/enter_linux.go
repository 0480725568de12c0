package isolated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// outputGrace bounds the wait for output after the process ended: its descendants may hold the pipes.
const outputGrace = time.Second

// Enter runs another process in the container until it or ctx ends.
func (c *isolated) Enter(ctx context.Context, e cri.Entering) error {
	process := c.spec.Process
	process.Args, process.Env, process.Terminal = e.Args, e.Environment(process.Env), e.Terminal
	description, theirs, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer description.Close()
	cmd := exec.CommandContext(ctx, wire.PathProgram)
	cmd.Args = []string{"slipway-container", wire.PartEnter}
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.Dir = "/"
	cmd.WaitDelay = outputGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	go func() {
		_ = json.NewEncoder(theirs).Encode(process) // a write fails only if the process has ended
		_ = theirs.Close()
	}()
	if e.Terminal {
		return c.enterTerminal(cmd, description, e)
	}
	return c.enterPiped(cmd, description, e)
}

func (c *isolated) enterPiped(cmd *exec.Cmd, description *os.File, e cri.Entering) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd.Stdout, cmd.Stderr = e.Stdout, e.Stderr
	cmd.ExtraFiles = append([]*os.File{c.options.Inside, description, null, c.first}, c.groups...)
	if e.Stdin != nil {
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() { // can outlast the process while a client sends nothing
			_, _ = io.Copy(in, e.Stdin)
			_ = in.Close()
		}()
	}
	process, err := c.thread.start(cmd)
	if err != nil {
		return fmt.Errorf("enter the container: %w", err)
	}
	return c.thread.wait(cmd, process)
}

// enterTerminal runs the process on a terminal of the container, and connects the streams to that.
func (c *isolated) enterTerminal(cmd *exec.Cmd, description *os.File, e cri.Entering) error {
	pair, err := socketPair()
	if err != nil {
		return err
	}
	defer closeFiles(pair[0], pair[1])
	var failure cri.Head
	cmd.Stderr = &failure // until the process has the terminal
	cmd.ExtraFiles = append([]*os.File{c.options.Inside, description, pair[1], c.first}, c.groups...)
	process, err := c.thread.start(cmd)
	if err != nil {
		return fmt.Errorf("enter the container: %w", err)
	}
	closeFiles(pair[1])
	terminal, err := receiveTerminal(pair[0])
	if err != nil {
		return errors.Join(errors.New(string(failure.Bytes())), c.thread.wait(cmd, process))
	}
	defer terminal.Close()
	go cri.FollowSize(terminal, e.Resize)
	if e.Stdin != nil {
		go func() { _, _ = io.Copy(terminal, e.Stdin) }()
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(e.Stdout, terminal) // fails when no process has the terminal open
	}()
	err = c.thread.wait(cmd, process)
	select {
	case <-shown:
	case <-time.After(outputGrace):
	}
	return err
}

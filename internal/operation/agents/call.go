package agents

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// A call is one run of slipway.
type call struct {
	args  []string
	stdin string
	// kubeconfig is the file of the cluster that the call may reach; "" for none.
	kubeconfig string
	// clusters says that the call is about slipway's own clusters. It has the user's kubeconfig, to take a stopped
	// cluster out of it.
	clusters bool
	// writes says that the call may write files of the project.
	writes bool
	// plain leaves out --output json.
	plain bool
	// found is the exit code that is an answer, such as that of failed tests, and no failure of the tool.
	found int
}

// An outcome is how a call ended.
type outcome struct {
	call   call
	code   int
	lines  []string // of the output, in its order
	cutOff bool     // there were more than maxKept bytes
}

// The limits of a child's output, in bytes: of a line, which may be a list of objects, and of all that is kept.
const (
	maxLine = 32 << 20
	maxKept = 64 << 20
)

// grace is how long a cancelled call may take to end what it has started, such as a proof's clusters.
const grace = 15 * time.Second

// A turn is a workshop during one call of a tool.
type turn struct {
	*workshop
	progress func(e event) // reports what comes of a child while it runs
}

// slipway runs slipway and returns what it printed. A cancelled ctx ends it.
func (t *turn) slipway(ctx context.Context, c call) (outcome, error) {
	if c.writes {
		release, err := t.hold(ctx)
		if err != nil {
			return outcome{}, err
		}
		defer release()
	}
	cmd, err := t.command(c)
	if err != nil {
		return outcome{}, err
	}
	out := &output{each: t.progress}
	read, write := io.Pipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.stdin), write, process.NewLines(out.add)
	done := make(chan error, 1)
	go func() { done <- out.read(read) }()
	err = process.Supervise(ctx, cmd, grace)
	_ = write.Close() // never fails
	failed := <-done
	if ctx.Err() != nil {
		return outcome{}, context.Cause(ctx)
	}
	o := outcome{call: c, lines: out.lines, cutOff: out.cutOff}
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case ended:
		o.code = process.ExitCode(exit.ProcessState)
	case err != nil:
		return outcome{}, err
	case failed != nil:
		return outcome{}, failed
	}
	return o, nil
}

// noCluster is the name of a kubeconfig that does not exist.
const noCluster = "none"

// command is the child of a call.
func (t *turn) command(c call) (*exec.Cmd, error) {
	args := c.args
	if !c.plain {
		args = append([]string{"--output", "json"}, args...)
	}
	cmd, err := process.Command(t.session.Program, args...)
	if err != nil {
		return nil, err
	}
	cmd.Dir = t.session.Dir
	switch {
	case c.clusters:
		cmd.Env = t.session.Environ
	case c.kubeconfig != "":
		cmd.Env = t.environ(c.kubeconfig)
	default:
		cmd.Env = t.environ(filepath.Join(t.scratch, noCluster))
	}
	return cmd, nil
}

// An output collects the lines of a child's two streams.
type output struct {
	each func(e event)

	mu     sync.Mutex
	lines  []string
	size   int
	cutOff bool
}

// errLine is why the output of a child cannot be read.
var errLine = &report.Error{What: "the answer is larger than 32 MiB", Hint: "name a namespace, a name or a selector"}

// read reads the standard output to its end.
func (o *output) read(from *io.PipeReader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		o.add(lines.Text())
	}
	err := lines.Err()
	_, _ = io.Copy(io.Discard, from) // lest the child waits for a reader
	if errors.Is(err, bufio.ErrTooLong) {
		return errLine
	}
	return err
}

func (o *output) add(line string) {
	e := parse(line)
	if o.each != nil {
		o.each(e)
	}
	if e.passing() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size += len(line); o.size > maxKept {
		o.cutOff = true
		return
	}
	o.lines = append(o.lines, line)
}

package cri

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	utilexec "k8s.io/utils/exec"
)

// patience bounds what takes no time.
const patience = time.Minute

func testLog(t *testing.T) *logFile {
	t.Helper()
	l := &logFile{path: filepath.Join(t.TempDir(), "0.log")}
	if err := l.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

// lines are more than waits for a viewer.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// TestStalledViewerHoldsNothingUp: a client that stops to read is sent away; another sees all, and all is in the log.
func TestStalledViewerHoldsNothingUp(t *testing.T) {
	l := testLog(t)
	// The time is not the machine's: where that is busy, the one who reads may not come to it for as long as one is waited for.
	synctest.Test(t, func(t *testing.T) { stalledViewer(t, l) })
}

func stalledViewer(t *testing.T, l *logFile) {
	a := newAttached()
	_, stalled := io.Pipe() // nobody reads
	defer stalled.Close()
	bad := newViewer(stalled, nil)
	var seen bytes.Buffer
	good := newViewer(&seen, nil)
	a.add(bad)
	a.add(good)
	text := lines(10 * waiting)
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		l.copy("stdout", strings.NewReader(text), a)
	}()
	select {
	case <-copied:
	case <-time.After(patience):
		t.Fatal("a client that does not read holds the container's output up")
	}
	a.close()
	ended := make(chan struct{})
	close(ended)
	if err := good.await(t.Context(), ended); err != nil || seen.String() != text {
		t.Errorf("the client that reads sees %d bytes of %d: %v", seen.Len(), len(text), err)
	}
	if err := bad.await(t.Context(), nil); !errors.Is(err, errStalled) {
		t.Errorf("the client that does not read is told %v", err)
	}
	text2, err := os.ReadFile(l.path)
	if n := bytes.Count(text2, []byte("\n")); err != nil || n != 10*waiting {
		t.Errorf("the log has %d lines (%v)", n, err)
	}
}

// command is a process that stands for all that are entered.
type command struct{ Process }

func (command) Enter(ctx context.Context, e Entering) error {
	cmd := exec.CommandContext(ctx, e.Args[0], e.Args[1:]...)
	cmd.Stdout, cmd.Stderr = e.Stdout, e.Stderr
	return cmd.Run()
}

// TestExecSyncKeepsAHead: what a probe writes is bounded, and its result is the command's.
func TestExecSyncKeepsAHead(t *testing.T) {
	r := &Runtime{containers: map[string]*container{"c": {run: &run{Process: command{}}, state: runtimeapi.ContainerState_CONTAINER_RUNNING}}}
	for _, status := range []int{0, 3} {
		script := fmt.Sprintf("echo begin; head -c 33554432 /dev/zero; echo failed >&2; exit %d", status)
		out, errs, err := r.ExecSync(t.Context(), "c", []string{"sh", "-c", script}, patience)
		if len(out) != maxOutput || !bytes.HasPrefix(out, []byte("begin\n")) || string(errs) != "failed\n" {
			t.Errorf("%d bytes of output, and %q", len(out), errs)
		}
		if e, ok := errors.AsType[*utilexec.CodeExitError](err); ok != (status != 0) || ok && e.Code != status {
			t.Errorf("the command ended with %v, want %d", err, status)
		}
	}
}

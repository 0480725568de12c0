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
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	utilexec "k8s.io/utils/exec"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

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
	// The time is not the machine's: where that is busy, the one who reads may not come to it for as long as one is
	// waited for.
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
		l.copy("stdout", iotest.OneByteReader(strings.NewReader(text)), a) // more pieces than wait for a viewer
	}()
	select {
	case <-copied:
	case <-time.After(testlimit.Hang):
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

// TestPromptIsSeen: who is attached sees output that ends no line as it comes; the log has whole lines, long ones in
// parts.
func TestPromptIsSeen(t *testing.T) {
	l, a := testLog(t), newAttached()
	screen, seen := io.Pipe()
	a.add(newViewer(seen, nil))
	output, from := io.Pipe()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		l.copy("stdout", output, a)
	}()
	long := strings.Repeat("x", longest+10)
	for _, text := range []string{"name? ", "jo", "hn\nage? ", "7\n", long, "\nend"} {
		_, _ = io.WriteString(from, text) // as long as it is copied
		got := make([]byte, len(text))
		if _, err := io.ReadFull(screen, got); err != nil || string(got) != text {
			t.Fatalf("the viewer sees %q of %q: %v", got, text, err)
		}
	}
	_ = from.Close()
	<-copied
	text, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		_, line, _ = strings.Cut(line, " stdout ")
		got = append(got, line)
	}
	want := []string{"F name? john\n", "F age? 7\n", "P " + long[:longest] + "\n", "F " + long[longest:] + "\n", "P end\n"}
	if !slices.Equal(got, want) {
		t.Errorf("the log is %q", got)
	}
}

// TestNoLog: a container whose pod names no log runs without one.
func TestNoLog(t *testing.T) {
	for _, l := range []*logFile{newLog("", "0.log"), newLog(t.TempDir(), "")} {
		if err := l.open(); err != nil || l.path != "" {
			t.Errorf("the log is %q: %v", l.path, err)
		}
		l.copy("stdout", strings.NewReader("text\n"), newAttached())
		l.close()
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
		out, errs, err := r.ExecSync(t.Context(), "c", []string{"sh", "-c", script}, testlimit.Hang)
		if len(out) != maxOutput || !bytes.HasPrefix(out, []byte("begin\n")) || string(errs) != "failed\n" {
			t.Errorf("%d bytes of output, and %q", len(out), errs)
		}
		if e, ok := errors.AsType[*utilexec.CodeExitError](err); ok != (status != 0) || ok && e.Code != status {
			t.Errorf("the command ended with %v, want %d", err, status)
		}
	}
}

package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

// screens are the terminals on which developers of scripts have slipway dev.
type screens struct {
	mu  sync.Mutex
	all map[*testscript.TestScript]*screen
}

// screen is a terminal with slipway dev.
type screen struct {
	cmd   *exec.Cmd
	keys  *os.File // the person's side
	ended chan struct{}

	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // closed when there is more
	seen int           // what was waited for last ends there
}

// command is the script command `screen`:
//
//	screen start COLUMNS [FLAGS]   begins slipway dev on a terminal
//	screen shows TEXT              waits until it shows a text, after the last one that was waited for
//	screen press KEYS              types; \x03 is Ctrl-C
//	screen hangup                  closes the terminal's window, and waits for the end
//	screen end CODE                waits for the end, with an exit code
func (s *screens) command(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: screen start|shows|press|hangup|end …")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if args[0] == "start" {
		if s.all == nil {
			s.all = map[*testscript.TestScript]*screen{}
		}
		s.all[ts] = startScreen(ts, atoi(ts, args[1]), args[2:])
		return
	}
	shown := s.all[ts]
	switch args[0] {
	case "shows":
		shown.shows(ts, args[1])
	case "press":
		keys, err := strconv.Unquote(`"` + args[1] + `"`)
		ts.Check(err)
		_, err = shown.keys.WriteString(keys)
		ts.Check(err)
	case "hangup":
		ts.Check(shown.keys.Close())
		shown.await(ts)
	case "end":
		shown.await(ts)
		if code := shown.cmd.ProcessState.ExitCode(); code != atoi(ts, args[1]) {
			ts.Fatalf("slipway dev has ended with the exit code %d, want %s\n%s", code, args[1], shown.all())
		}
	default:
		ts.Fatalf("no such command: screen %s", args[0])
	}
}

func startScreen(ts *testscript.TestScript, columns int, flags []string) *screen {
	self, err := os.Executable()
	ts.Check(err)
	s := &screen{cmd: exec.Command(self, append([]string{"dev"}, flags...)...), ended: make(chan struct{}), more: make(chan struct{})}
	s.cmd.Args[0], s.cmd.Dir, s.cmd.Env = "slipway", ts.MkAbs("."), []string{"TERM=xterm-256color", "NO_COLOR=" + ts.Getenv("NO_COLOR")}
	for _, name := range devEnvironment(ts) {
		s.cmd.Env = append(s.cmd.Env, name+"="+ts.Getenv(name))
	}
	keys, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: uint16(columns)})
	ts.Check(err)
	fd, err := unix.FcntlInt(keys.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	ts.Check(errors.Join(err, keys.Close()))
	ts.Check(unix.SetNonblock(fd, true)) // so that Close ends Read
	s.keys = os.NewFile(uintptr(fd), "terminal")
	var both sync.WaitGroup
	both.Go(s.read)
	both.Go(func() {
		_ = s.cmd.Wait() // its state has the exit code
		close(s.ended)
	})
	ts.Defer(func() {
		_ = s.cmd.Process.Kill()
		<-s.ended // which SIGKILL leads to
		_ = s.keys.Close()
		both.Wait()
	})
	return s
}

// read collects what is shown until the terminal is closed.
func (s *screen) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.keys.Read(buf)
		s.mu.Lock()
		s.text.Write(buf[:n])
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// control are sequences that move the cursor or choose colours.
var control = lazy.Regexp(`\x1b(\[[0-9;?>=]*[ -/]*[@-~]|\][^\a\x1b]*(\a|\x1b\\)|[@-Z\\-_])`)

// all is what was shown, without these.
func (s *screen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return control().ReplaceAllString(s.text.String(), "")
}

// shows waits until a text is shown.
func (s *screen) shows(ts *testscript.TestScript, text string) {
	timeout := time.After(testlimit.Hang)
	for {
		s.mu.Lock()
		more := s.more
		s.mu.Unlock()
		shown := s.all()
		if at := strings.Index(shown[min(s.seen, len(shown)):], text); at >= 0 {
			s.seen += at + len(text)
			return
		}
		select {
		case <-more:
		case <-timeout:
			ts.Fatalf("%q is not shown; the terminal has:\n%s", text, shown)
		}
	}
}

// await waits for the end of slipway dev.
func (s *screen) await(ts *testscript.TestScript) {
	select {
	case <-s.ended:
	case <-time.After(testlimit.Hang):
		_ = s.cmd.Process.Signal(unix.SIGQUIT) // the terminal shows what its goroutines do
		select {
		case <-s.ended:
		case <-time.After(lastWords):
		}
		ts.Fatalf("slipway dev does not end:\n%s", s.all())
	}
}

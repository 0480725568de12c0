package cli_test

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

// longestLine is how long a line of the dev loop's output may be: a longer one ends the loop, and the script fails.
const longestLine = 1 << 20

// lastWords is how long a loop that hangs may take to print its goroutines.
const lastWords = 20 * time.Second

// developer is the dev loop of a script, which runs beside it.
type developer struct {
	cmd    *exec.Cmd
	stderr spoken
	ended  chan struct{} // closed once all lines are read
	err    error         // why it ended, then

	mu    sync.Mutex
	lines []string
	more  chan struct{} // closed when there is a further line

	from, next int // between which lines are those that the last await passed, with the one that it waited for
}

// spoken collects what a program writes.
type spoken struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// developers are the dev loops of scripts, one in each folder of a script.
type developers struct {
	mu  sync.Mutex
	all map[desk]*developer
}

// desk is where a developer works.
type desk struct {
	script *testscript.TestScript
	folder string
}

// command plays a developer in the current folder:
//
//	dev start [FLAGS] [-- ARGS]   begins slipway dev, whose events are read as JSON
//	dev await REGEXP              waits for a line that matches, after the last that was waited for
//	dev none REGEXP               fails if a line between the last two that were waited for matches
//	dev stop                      sends an interrupt and waits for the end
//	dev signal TERM|HUP           sends another signal and waits for the end
//	dev kill                      kills it
//	dev manager KILL              kills the manager that it reported last
func (d *developers) command(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: dev start|await|none|stop|signal|kill|manager …")
	}
	if args[0] == "start" {
		d.start(ts, nil, args[1:])
		return
	}
	loop := d.loop(ts)
	switch args[0] {
	case "await":
		loop.await(ts, args[1])
	case "none":
		loop.none(ts, args[1])
	case "stop":
		loop.stop(ts, os.Interrupt)
	case "signal":
		loop.stop(ts, signals[args[1]])
	case "manager":
		ts.Check(loop.manager(ts).Signal(signals[args[1]]))
	case "kill":
		ts.Check(loop.cmd.Process.Kill())
		loop.end(ts)
	default:
		ts.Fatalf("no such command: dev %s", args[0])
	}
}

// loop is the dev loop in the current folder.
func (d *developers) loop(ts *testscript.TestScript) *developer {
	d.mu.Lock()
	defer d.mu.Unlock()
	loop := d.all[desk{ts, ts.MkAbs(".")}]
	if loop == nil {
		ts.Fatalf("no dev loop runs in this folder")
	}
	return loop
}

// start begins a loop in the current folder. The wrapper is a command that runs the one that follows it; nil is none.
func (d *developers) start(ts *testscript.TestScript, wrapper, args []string) {
	loop := startDeveloper(ts, wrapper, args)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[desk]*developer{}
	}
	d.all[desk{ts, ts.MkAbs(".")}] = loop
}

// signals are those that scripts name.
var signals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}

// stop asks the loop to end, which is no failure. All that it reports is on its output: what libraries write beside
// that would spoil the screen.
func (d *developer) stop(ts *testscript.TestScript, signal os.Signal) {
	ts.Check(d.cmd.Process.Signal(signal))
	d.end(ts)
	if text := d.stderr.String(); d.err != nil || text != "" {
		ts.Fatalf("slipway dev has ended: %v; to its error output it has written: %q", d.err, text)
	}
}

// end waits for the end of the loop.
func (d *developer) end(ts *testscript.TestScript) {
	if !d.hasEnded(testlimit.Hang) {
		ts.Fatalf("slipway dev does not end\n%s", d.goroutines())
	}
}

// hasEnded reports whether the loop has ended, or ends in so much time.
func (d *developer) hasEnded(patience time.Duration) bool {
	select {
	case <-d.ended:
		return true
	default:
	}
	select {
	case <-d.ended:
		return true
	case <-time.After(patience):
		return false
	}
}

// goroutines ends the loop so that it prints what its goroutines do, and returns all that it has written to its error
// output.
func (d *developer) goroutines() string {
	_ = d.cmd.Process.Signal(syscall.SIGQUIT)
	if !d.hasEnded(lastWords) {
		_ = d.cmd.Process.Kill()
	}
	return d.stderr.String()
}

// startedManager is in the event of a manager that has been started.
var startedManager = lazy.Regexp(`"manager","state":"ready".*"text":"process ([0-9]+)"`)

// manager is the process of the manager that was started last.
func (d *developer) manager(ts *testscript.TestScript) *os.Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, line := range slices.Backward(d.lines) {
		if m := startedManager().FindStringSubmatch(line); m != nil {
			pid, err := strconv.Atoi(m[1])
			ts.Check(err)
			manager, err := os.FindProcess(pid)
			ts.Check(err)
			return manager
		}
	}
	ts.Fatalf("no manager has been started")
	return nil
}

func startDeveloper(ts *testscript.TestScript, wrapper, args []string) *developer {
	self, err := os.Executable()
	ts.Check(err)
	line := slices.Concat(wrapper, []string{"slipway", "--output", "json", "dev"}, args)
	d := &developer{cmd: exec.Command(line[0], line[1:]...), ended: make(chan struct{}), more: make(chan struct{})}
	if wrapper == nil {
		d.cmd.Path, d.cmd.Err = self, nil
	}
	d.cmd.Dir = ts.MkAbs(".")
	for _, name := range devEnvironment(ts) {
		d.cmd.Env = append(d.cmd.Env, name+"="+ts.Getenv(name))
	}
	out, err := d.cmd.StdoutPipe()
	ts.Check(err)
	d.cmd.Stderr = &d.stderr
	ts.Check(d.cmd.Start())
	go func() {
		defer close(d.ended)
		unread := d.read(out)
		if unread != nil {
			_ = d.cmd.Process.Kill() // it would wait for ever for someone who reads on
			unread = fmt.Errorf("read the output of slipway dev: %w", unread)
		}
		d.err = errors.Join(unread, d.cmd.Wait())
	}()
	t := ts.Value(scriptT{}).(testing.TB)
	ts.Defer(func() { // where ts.Fatalf would end all tests
		_ = d.cmd.Process.Kill()
		if !d.hasEnded(testlimit.Hang) {
			t.Errorf("the output of slipway dev stays open after its end:\n%s", d.stderr.String())
		} else if t.Failed() {
			t.Logf("slipway dev in %s: %v\n%s", d.cmd.Dir, d.err, d.stderr.String())
		}
	})
	return d
}

// devEnvironment are the names of the variables that a script has.
func devEnvironment(ts *testscript.TestScript) []string {
	names := []string{"PATH", "HOME", "TMPDIR", "KUBECONFIG", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "SLIPWAY_CLUSTER", "SLIPWAY_NODE", "SLIPWAY_CHECK",
		"GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "GOPROXY", "GOSUMDB", "GOFLAGS", "CGO_ENABLED", "GOGC", "GOTOOLCHAIN", "GOWORK"}
	return append(names, systemEnv...)
}

// read reads lines until there are no more, or one is too long.
func (d *developer) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		d.mu.Lock()
		d.lines = append(d.lines, lines.Text())
		close(d.more)
		d.more = make(chan struct{})
		d.mu.Unlock()
	}
	return lines.Err()
}

// await waits for a line that matches.
func (d *developer) await(ts *testscript.TestScript, pattern string) {
	match := regexp.MustCompile(pattern)
	timeout := time.After(testlimit.Hang)
	for i := d.next; ; i++ {
		line, ok := d.line(i, timeout)
		if !ok {
			d.vain(ts, pattern)
		}
		if match.MatchString(line) {
			ts.Logf("%s", line)
			d.from, d.next = d.next, i+1
			return
		}
	}
}

// vain fails since no line has matched: the loop has ended, or too much time has passed.
func (d *developer) vain(ts *testscript.TestScript, pattern string) {
	why, more := "time has passed", ""
	if d.hasEnded(0) {
		why = fmt.Sprint("the loop has ended: ", cmp.Or(d.err, errors.New("without an error")))
	} else {
		more = d.goroutines()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ts.Fatalf("no line matches %s (%s); since the last one that was waited for there were:\n%s\n%s", pattern, why, strings.Join(d.lines[d.next:], "\n"), more)
}

// line is the line with a number, when it comes; ok is false if the loop ends before, or it takes too long.
func (d *developer) line(i int, timeout <-chan time.Time) (line string, ok bool) {
	for {
		d.mu.Lock()
		more := d.more
		if i < len(d.lines) {
			defer d.mu.Unlock()
			return d.lines[i], true
		}
		d.mu.Unlock()
		select {
		case <-more:
		case <-d.ended:
			return "", false
		case <-timeout:
			return "", false
		}
	}
}

// none fails if one of the lines before the one that was waited for last matches.
func (d *developer) none(ts *testscript.TestScript, pattern string) {
	match := regexp.MustCompile(pattern)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, line := range d.lines[d.from:max(d.from, d.next-1)] {
		if match.MatchString(line) {
			ts.Fatalf("this line matches %s:\n%s", pattern, line)
		}
	}
}

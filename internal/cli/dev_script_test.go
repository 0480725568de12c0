package cli_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// devPatience is how long an event of the dev loop is waited for. It exists to fail with a better message.
const devPatience = 40 * time.Second

// developer is the dev loop of a script, which runs beside it.
type developer struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed once all lines are read
	err   error

	mu    sync.Mutex
	lines []string
	more  chan struct{} // closed when there is a further line

	from, next int // between which lines are those that the last await passed, with the one that it waited for
}

// developers are the dev loops of scripts.
type developers struct {
	mu  sync.Mutex
	all map[*testscript.TestScript]*developer
}

// command plays a developer:
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
	d.mu.Lock()
	if d.all == nil {
		d.all = map[*testscript.TestScript]*developer{}
	}
	loop := d.all[ts]
	d.mu.Unlock()
	if args[0] == "start" {
		loop = startDeveloper(ts, args[1:])
		d.mu.Lock()
		d.all[ts] = loop
		d.mu.Unlock()
		return
	}
	if loop == nil {
		ts.Fatalf("no dev loop runs")
	}
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
		<-loop.ended
	}
}

// signals are those that scripts name.
var signals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}

// stop asks the loop to end, which is no failure.
func (d *developer) stop(ts *testscript.TestScript, signal os.Signal) {
	ts.Check(d.cmd.Process.Signal(signal))
	<-d.ended
	ts.Check(d.err)
}

// startedManager is in the event of a manager that has been started.
var startedManager = regexp.MustCompile(`"manager","state":"ready".*"text":"process ([0-9]+)"`)

// manager is the process of the manager that was started last.
func (d *developer) manager(ts *testscript.TestScript) *os.Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, line := range slices.Backward(d.lines) {
		if m := startedManager.FindStringSubmatch(line); m != nil {
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

func startDeveloper(ts *testscript.TestScript, args []string) *developer {
	self, err := os.Executable()
	ts.Check(err)
	d := &developer{cmd: exec.Command(self, append([]string{"--output", "json", "dev"}, args...)...), ended: make(chan struct{}), more: make(chan struct{})}
	d.cmd.Args[0] = "slipway"
	d.cmd.Dir = ts.MkAbs(".")
	for _, name := range devEnvironment(ts) {
		d.cmd.Env = append(d.cmd.Env, name+"="+ts.Getenv(name))
	}
	out, err := d.cmd.StdoutPipe()
	ts.Check(err)
	d.cmd.Stderr = os.Stderr
	ts.Check(d.cmd.Start())
	go func() {
		d.read(out)
		d.err = d.cmd.Wait()
		close(d.ended)
	}()
	ts.Defer(func() {
		_ = d.cmd.Process.Kill()
		<-d.ended
	})
	return d
}

// devEnvironment are the names of the variables that a script has.
func devEnvironment(ts *testscript.TestScript) []string {
	names := []string{"PATH", "HOME", "TMPDIR", "KUBECONFIG", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "SLIPWAY_CLUSTER", "SLIPWAY_NODE", "SLIPWAY_CHECK",
		"GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "GOPROXY", "GOSUMDB", "GOFLAGS", "CGO_ENABLED", "GOGC", "GOTOOLCHAIN", "GOWORK"}
	return append(names, systemEnv...)
}

func (d *developer) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		d.mu.Lock()
		d.lines = append(d.lines, lines.Text())
		close(d.more)
		d.more = make(chan struct{})
		d.mu.Unlock()
	}
}

// await waits for a line that matches.
func (d *developer) await(ts *testscript.TestScript, pattern string) {
	match := regexp.MustCompile(pattern)
	timeout := time.After(devPatience)
	for i := d.next; ; i++ {
		line, ok := d.line(i, timeout)
		if !ok {
			d.mu.Lock()
			defer d.mu.Unlock()
			ts.Fatalf("no line matches %s; since the last one that was waited for there were:\n%s", pattern, strings.Join(d.lines[d.next:], "\n"))
		}
		if match.MatchString(line) {
			ts.Logf("%s", line)
			d.from, d.next = d.next, i+1
			return
		}
	}
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

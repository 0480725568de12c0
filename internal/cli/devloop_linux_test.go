package cli_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-dev/slipway/internal/testlimit"
)

// TestDevLoop runs testdata/devloop/*.txtar, where developers work for minutes: on real operators, on full disks, and
// while parts of the loop are killed.
func TestDevLoop(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-dev")
	}
	loops, callers, terminals := &longDevelopers{}, &callers{}, &screens{}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "devloop"), RequireExplicitExec: true, RequireUniqueNames: true, Setup: scriptEnv, Condition: devLoopCondition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"dev": loops.command, "calls": callers.command, "screen": terminals.command, "disk": smallDisk, "fill": fillDisk, "replace": replace, "kubebuilder": kubebuilderCommand,
		},
	})
}

// devLoopCondition decides one more condition: disks is true where a disk of a size can be mounted.
func devLoopCondition(what string) (bool, error) {
	if what != "disks" {
		return condition(what)
	}
	dir, err := os.MkdirTemp("", "disk")
	if err != nil {
		return false, err
	}
	mounted := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m") == nil
	if mounted {
		err = syscall.Unmount(dir, 0)
	}
	return mounted, errors.Join(err, os.Remove(dir))
}

// smallDisk is the script command `disk DIR MEBIBYTES`: a folder that is a disk of its own until the script ends.
func smallDisk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: disk DIR MEBIBYTES")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+args[1]+"m"))
	t := ts.Value(scriptT{}).(testing.TB)
	ts.Defer(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
}

// fillDisk is the script command `fill DIR KIBIBYTES`, which fills the disk of a folder with a file of that name until
// so much space is left.
func fillDisk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill DIR KIBIBYTES")
	}
	left, err := strconv.Atoi(args[1])
	ts.Check(err)
	var disk syscall.Statfs_t
	ts.Check(syscall.Statfs(ts.MkAbs(args[0]), &disk))
	size := int64(disk.Bavail)*disk.Bsize - int64(left)<<10
	if size < 0 {
		ts.Fatalf("%d KiB are missing already", -size>>10)
	}
	err = os.WriteFile(filepath.Join(ts.MkAbs(args[0]), "fill"), make([]byte, size), 0o600)
	if left == 0 && errors.Is(err, syscall.ENOSPC) {
		return // another program has written meanwhile
	}
	ts.Check(err)
}

// kubebuilderCommand is the script command `kubebuilder ARGS`, which runs kubebuilder's own command.
func kubebuilderCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: kubebuilder ARGS")
	}
	const program = "sigs.k8s.io/kubebuilder/v4@v4.16.0"
	ts.Check(ts.Exec("go", append([]string{"run", "-mod=mod", program}, args...)...))
}

// longDevelopers are the dev loops of long scripts.
type longDevelopers struct{ developers }

// command plays a developer who also
//
//	dev few N [FLAGS]        begins slipway dev where it may watch N folders only
//	dev saves FILE FROM TO   saves words in turn, each when the manager of the one before runs
//	dev remember NAME        notes what the process of slipway dev has of the system
//	dev unchanged NAME       waits until it has no more than that
//	dev quit NAME            ends it so that it prints its goroutines; there are as many as at an earlier end of the name
//	dev compiler KILL        waits until the go command builds, and kills it
func (d *longDevelopers) command(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		d.developers.command(ts, neg, args)
		return
	}
	switch args[0] {
	case "few":
		limit := "echo " + args[1] + ` >/proc/sys/user/max_inotify_watches && exec "$@"`
		d.start(ts, []string{"unshare", "--user", "--map-root-user", "sh", "-ec", limit, "sh"}, args[2:])
	case "saves":
		d.loop(ts).saves(ts, args[1], atoi(ts, args[2]), atoi(ts, args[3]))
	case "remember":
		remember(ts, args[1], d.loop(ts).possessions())
	case "unchanged":
		d.loop(ts).unchanged(ts, remembered(ts, args[1]))
	case "quit":
		d.loop(ts).quit(ts, args[1])
	case "compiler":
		compiler := d.loop(ts).compiler(ts)
		ts.Check(compiler.Signal(signals[args[1]]))
	default:
		d.developers.command(ts, neg, args)
	}
}

func atoi(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

// saves writes a constant of package word, and waits until the manager says it.
func (d *developer) saves(ts *testscript.TestScript, file string, from, to int) {
	for i := from; i <= to; i++ {
		ts.Check(os.WriteFile(ts.MkAbs(file), fmt.Appendf(nil, "package word\n\nconst Word = \"w%d\"\n", i), 0o600))
		d.await(ts, fmt.Sprintf("output.*running w%d\\b", i))
	}
}

// quit counts the goroutines with which a loop ends.
func (d *developer) quit(ts *testscript.TestScript, name string) {
	ts.Check(d.cmd.Process.Signal(syscall.SIGQUIT))
	d.end(ts)
	now := map[string]int{}
	for line := range strings.Lines(d.stderr.String()) {
		if by, is := strings.CutPrefix(line, "created by "); is {
			by, _, _ = strings.Cut(strings.TrimSpace(by), " in goroutine ")
			now[by]++
		}
	}
	if len(now) == 0 {
		ts.Fatalf("no goroutines are in\n%s", d.stderr.String())
	}
	if path := ts.MkAbs(".goroutines-" + name); fileExists(path) {
		const few = 8 // may be about to end, or to begin
		before := remembered(ts, ".goroutines-"+name)
		for by, n := range now {
			if n > before[by]+few {
				ts.Fatalf("%d goroutines are created by %s, and there were %d\n%s", n, by, before[by], d.stderr.String())
			}
		}
	}
	remember(ts, ".goroutines-"+name, now)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// remember writes down numbers, which remembered reads again.
func remember(ts *testscript.TestScript, name string, numbers map[string]int) {
	ts.Logf("%s: %v", name, numbers)
	var text strings.Builder
	for what, n := range numbers {
		fmt.Fprintf(&text, "%d %s\n", n, what)
	}
	ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text.String()), 0o600))
}

func remembered(ts *testscript.TestScript, name string) map[string]int {
	numbers := map[string]int{}
	for line := range strings.Lines(ts.ReadFile(name)) {
		n, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		numbers[what] = atoi(ts, n)
	}
	return numbers
}

// possessions are what a process has of the system, by kinds.
func (d *developer) possessions() map[string]int {
	proc := fmt.Sprintf("/proc/%d/", d.cmd.Process.Pid)
	count := func(pattern string) int {
		names, _ := filepath.Glob(proc + pattern) // which is well-formed
		return len(names)
	}
	have := map[string]int{"descriptors": count("fd/*"), "threads": count("task/*"), "children": len(d.children())}
	for _, name := range globbed(proc + "fdinfo/*") {
		text, _ := os.ReadFile(name) // gone, if it cannot be read
		have["watches"] += strings.Count(string(text), "inotify wd:")
	}
	return have
}

func globbed(pattern string) []string {
	names, _ := filepath.Glob(pattern) // which is well-formed
	return names
}

// children are the processes that the loop has started and not waited for.
func (d *developer) children() (pids []int) {
	for _, name := range globbed(fmt.Sprintf("/proc/%d/task/*/children", d.cmd.Process.Pid)) {
		text, _ := os.ReadFile(name) // gone, if it cannot be read
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// look is how often the state of a process is looked at, for which there are no events.
const look = 5 * time.Millisecond

// eventually waits until a condition holds.
func eventually(ts *testscript.TestScript, what func() string, holds func() bool) {
	timeout, ticker := time.After(testlimit.Hang), time.NewTicker(look)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-timeout:
			ts.Fatalf("waited in vain: %s", what())
		case <-ticker.C:
		}
	}
}

// unchanged waits until the loop has no more than it had.
func (d *developer) unchanged(ts *testscript.TestScript, before map[string]int) {
	// Go keeps threads for later, and makes one more when all are in system calls.
	before = maps.Clone(before)
	before["threads"] += 8
	var now map[string]int
	eventually(ts, func() string { return fmt.Sprintf("it has %v, and had %v\n%s", now, before, d.goroutines()) }, func() bool {
		now = d.possessions()
		for what, n := range now {
			if n > before[what] {
				return false
			}
		}
		return true
	})
	ts.Logf("now: %v", now)
}

// compiler waits for the go command that builds the manager.
func (d *developer) compiler(ts *testscript.TestScript) (found *os.Process) {
	eventually(ts, func() string { return "no go command builds" }, func() bool {
		for _, pid := range d.children() {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // gone, if it cannot be read
			if words := strings.Split(string(line), "\x00"); len(words) > 1 && filepath.Base(words[0]) == "go" && words[1] == "build" {
				var err error
				found, err = os.FindProcess(pid)
				ts.Check(err)
				return true
			}
		}
		return false
	})
	return found
}

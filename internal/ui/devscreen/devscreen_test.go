//go:build unix

package devscreen

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what a person sees with testdata/name.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// TestScreen: what a person sees on terminals of several sizes.
func TestScreen(t *testing.T) {
	for _, test := range []struct {
		name          string
		width, height int
		environ       string
	}{
		{"80", 80, 24, "NO_COLOR="}, {"200", 200, 40, "NO_COLOR="}, {"no-color", 80, 24, "NO_COLOR=1"}, {"low", 80, 10, "NO_COLOR=1"}, {"tiny", 30, 4, "NO_COLOR=1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := open(t, "parts", test.width, test.height, test.environ)
			c.shows("✗")
			if test.height >= lowHeight {
				c.shows("cluster", "generate", "install", "build", "manager", "webhooks", "tests", "quit")
			}
			c.press("r")
			c.shows("all is shown")
			if test.height >= lowHeight {
				c.shows("  compiling the cluster program…\n")
			}
			golden(t, test.name, c.shown())
			_, raw := c.written()
			if colored := regexp.MustCompile(`\x1b\[[0-9;]+m`).MatchString(raw); colored != (test.environ == "NO_COLOR=") {
				t.Errorf("colours: %t", colored)
			}
			c.press("q")
			if err := c.end("over: the user quit"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKeys: keys ask the loop for something, or change what is shown.
func TestKeys(t *testing.T) {
	c := open(t, "parts", 80, 30)
	c.shows("? help  q quit")
	for pressed, asked := range map[string]Command{"s": ApplySamples, "t": RunTests, "d": Debug, "l": LogLevel, "a": AddMarker} {
		c.press(pressed)
		c.shows("asked to " + string(asked))
	}
	c.press("x?")
	c.shows("d  start the manager below Delve", "q  end; so does Ctrl-C")
	c.press("?")
	c.until("the help to go", func(shown string) bool { return !strings.Contains(shown, "Delve") })
	c.press("r")
	c.shows("all is shown")
	c.press("c")
	c.until("a clear screen", func(shown string) bool {
		history, screen, _ := strings.Cut(shown, "──── screen")
		return strings.Contains(history, "all is shown") && !strings.Contains(screen, "all is shown") && strings.Contains(screen, "q quit")
	})
	c.press("fwarn x")
	c.shows("filter: warn x")
	c.press("\x7f\x7f\r")
	c.shows("[warn: 0 hidden]")
	before := strings.Count(c.shown(), "created job")
	c.press("r")
	c.shows("[warn: 2 hidden]")
	c.until("what is not hidden", func(shown string) bool { return strings.Count(shown, "all is shown") == 2 })
	if after := strings.Count(c.shown(), "created job"); after != before {
		t.Errorf("a line of level DEBUG passed the filter for warnings:\n%s", c.shown())
	}
	c.press("f\x15error")
	c.shows("filter: error")
	c.press("\x1b") // Esc leaves the filter as it was
	c.until("the keys", func(shown string) bool {
		return strings.Contains(shown, "[warn: 2 hidden]") && !strings.Contains(shown, "filter: ")
	})
	c.press("q")
	if err := c.end("over: the user quit"); err != nil {
		t.Error(err)
	}
}

// TestEnds: whatever ends the screen, the terminal is restored, and what the loop says last is shown.
func TestEnds(t *testing.T) {
	for _, test := range []struct {
		name, mode string
		ask        func(c *terminal)
		words      []string
		fails      bool
	}{
		{"ctrl-c", "ending", func(c *terminal) { c.press("\x03") }, []string{"the loop has ended: the user quit", "over: the user quit"}, false},
		{"ctrl-c twice", "deaf", func(c *terminal) {
			c.press("\x03")
			c.shows("press Ctrl-C to end at once")
			c.press("\x03")
		}, []string{"over: the user did not wait"}, false},
		{"ctrl-c twice at once", "deaf", func(c *terminal) { c.press("\x03\x03") }, []string{"over: the user did not wait"}, false},
		{"terminated", "ending", func(c *terminal) { c.signal(syscall.SIGTERM) }, []string{"the loop has ended: the user quit", "over: the user quit"}, false},
		{"terminated twice", "deaf", func(c *terminal) {
			c.signal(syscall.SIGTERM)
			c.shows("press Ctrl-C to end at once")
			c.signal(syscall.SIGTERM)
		}, []string{"over: the user did not wait"}, false},
		{"hung up", "ending", func(c *terminal) { c.signal(syscall.SIGHUP) }, []string{"the loop has ended: the user quit", "over: the user quit"}, false},
		{"panic", "panic", func(c *terminal) { c.press("r") }, []string{"panic: the loop panics"}, true},
		{"error", "failed", func(c *terminal) { c.press("r") }, []string{"the last words", "over: the loop failed"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := open(t, test.mode, 80, 24)
			c.shows("q quit")
			test.ask(c)
			if err := c.end(test.words...); (err != nil) != test.fails {
				t.Error(err)
			}
		})
	}
}

// TestHangUp: when the terminal closes, the loop ends in order.
func TestHangUp(t *testing.T) {
	c := open(t, "ending", 80, 24)
	c.shows("the loop is up", "q quit")
	c.close() // the kernel sends SIGHUP
	select {
	case err := <-c.ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patient):
		t.Error("the program goes on without a terminal")
	}
}

// hideCursor is written when the screen is first drawn, and when it is drawn again.
const hideCursor = "\x1b[?25l"

// TestSuspend: in the background the terminal is the shell's, and in the foreground the screen is drawn again.
func TestSuspend(t *testing.T) {
	for name, stop := range map[string]func(c *terminal){
		"key":    func(c *terminal) { c.press("\x1a") },
		"signal": func(c *terminal) { c.signalJob(syscall.SIGTSTP) },
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, "shell", 80, 40, "NO_COLOR=1")
			c.shows("q quit", "· tests")
			for round := range 2 {
				_, raw := c.written()
				drawn := strings.Count(raw, hideCursor)
				stop(c)
				c.until("the job to stop", func(shown string) bool { return strings.Count(shown, "[1]+ Stopped") == round+1 })
				if name == "key" {
					c.restored()
				}
				c.press("fg\n")
				c.until("the screen", func(string) bool {
					_, raw := c.written()
					return strings.Count(raw, hideCursor) > drawn
				})
				c.press("s")
				c.until("the log above the block", func(shown string) bool {
					at := strings.LastIndex(shown, "asked to apply samples\n✓ cluster")
					return at > strings.LastIndex(shown, "Stopped") && strings.Count(shown, "asked to") == round+1
				})
			}
			golden(t, "suspended-by-"+name, c.shown())
			c.press("q")
			if err := c.end("over: the user quit", "the job has ended"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSuspendWithoutShell: where nothing could continue the process, it goes on.
func TestSuspendWithoutShell(t *testing.T) {
	c := open(t, "parts", 80, 24)
	c.shows("q quit", "· tests")
	c.press("\x1a")
	c.until("the screen again", func(shown string) bool { return strings.Count(shown, "· tests") == 2 })
	c.press("s")
	c.shows("asked to apply samples")
	c.press("q")
	if err := c.end("over: the user quit"); err != nil {
		t.Error(err)
	}
}

// TestResize: the block follows the size of the window, and no line of the log is lost.
func TestResize(t *testing.T) {
	c := open(t, "parts", 80, 24, "NO_COLOR=1")
	c.shows("q quit", "· tests")
	for _, size := range [][2]int{{120, 30}, {60, 8}, {100, 24}} {
		c.setSize(size[0], size[1])
		row := map[bool]string{true: "a add marker", false: "r restart  s samples  t tests"}[size[0] >= 100]
		c.until("the keys on a wide and a low terminal", func(shown string) bool {
			rows := c.visible()
			keys := slices.IndexFunc(rows, func(r string) bool { return strings.Contains(r, "q quit") })
			return keys >= 0 && strings.Contains(rows[keys], row) && strings.Contains(shown, "· tests     idle") == (size[1] >= lowHeight || strings.Contains(shown, "──── screen\n· tests"))
		})
		before := strings.Count(c.shown(), "asked to run tests")
		c.press("t")
		c.until("another line", func(shown string) bool { return strings.Count(shown, "asked to run tests") == before+1 })
	}
	c.press("q")
	if err := c.end("over: the user quit"); err != nil {
		t.Error(err)
	}
}

// TestFlood: any number of lines takes a bounded amount of memory, keys are heard meanwhile, and no line is lost.
func TestFlood(t *testing.T) {
	c := open(t, "flood", 200, 40, "NO_COLOR=1")
	c.shows("q quit")
	c.mu.Lock()
	c.blind = true
	c.mu.Unlock()
	c.press("r")
	line, answer, end := regexp.MustCompile(`flood  line (\d+) `), regexp.MustCompile(`answered after (\d+)`), 0
	for i, key := range []string{"s", "t", "d"} {
		seen := 0
		for seen < 100+i*lines/10 {
			var number string
			number, end = c.finds(line, end)
			seen, _ = strconv.Atoi(number)
		}
		c.press(key)
		var number string
		number, end = c.finds(answer, end)
		if after, _ := strconv.Atoi(number); after > seen+lines/5 {
			t.Errorf("key %s was pressed at line %d, and heard at line %d", key, seen, after)
		}
	}
	number, end := c.finds(regexp.MustCompile(`grown by (-?\d+) KiB`), end)
	if grown, err := strconv.Atoi(number); err != nil || grown > 6<<10 {
		t.Errorf("the flood took %s KiB of memory", number)
	}
	c.finds(regexp.MustCompile(`(the flood is over)`), end)
	_, raw := c.written()
	next := 0
	for _, m := range line.FindAllStringSubmatch(raw, -1) {
		if n, _ := strconv.Atoi(m[1]); n != next {
			t.Fatalf("line %d comes after line %d", n, next-1)
		}
		next++
	}
	if next != lines {
		t.Errorf("%d lines were shown, and %d written", next, lines)
	}
	t.Logf("memory grew by %s KiB; %d lines in %d writes", number, lines, c.writes)
	c.press("q")
	c.finds(regexp.MustCompile(`(over: the user quit)`), end)
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

// TestIdle: while nothing works, nothing is drawn and no time is waited for.
func TestIdle(t *testing.T) {
	m := newModel(Options{}, &screen{}, time.Now)
	working := status{parts: []report.Part{{Name: report.BuildPart, State: report.Working}}}
	idle := status{parts: []report.Part{{Name: report.BuildPart, State: report.Ready}}}
	for i, step := range []struct {
		msg   tea.Msg
		ticks bool
	}{{idle, false}, {working, true}, {working, false}, {tickMsg{}, true}, {idle, false}, {tickMsg{}, false}, {working, true}} {
		if _, cmd := m.Update(step.msg); (cmd != nil) != step.ticks {
			t.Errorf("step %d, %T, ticks: %t", i, step.msg, cmd != nil)
		}
	}

	c := open(t, "log", 80, 24)
	c.shows("q quit")
	c.press("s") // what is drawn now comes after all that the beginning draws
	c.shows("asked to apply samples")
	c.mu.Lock()
	before, changed := c.raw.Len(), c.changed
	c.mu.Unlock()
	select {
	case <-changed:
		_, raw := c.written()
		t.Errorf("an idle screen has written %q", raw[before:])
	case <-time.After(500 * time.Millisecond): // ten frames, none of which is to be drawn
	}
}

//go:build unix

package devscreen

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is an emulated one, with a program that runs on it.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	device *os.File // the program's side
	person *os.File // the other one
	fd     int      // of person
	before *term.State

	mu      sync.Mutex
	screen  *vt.Emulator
	raw     bytes.Buffer
	writes  int
	blind   bool          // nothing is emulated: for programs that write much
	changed chan struct{} // closed at each change

	ended chan error
}

// open starts this test binary as a program of a mode.
func open(t *testing.T, mode string, width, height int, environ ...string) *terminal {
	t.Helper()
	person, device, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	c := &terminal{t: t, device: device, screen: vt.NewEmulator(width, height), changed: make(chan struct{}), ended: make(chan error, 1)}
	if c.fd, err = unix.FcntlInt(person.Fd(), unix.F_DUPFD_CLOEXEC, 0); err == nil {
		err = unix.SetNonblock(c.fd, true) // so that Close ends Read
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = person.Close()
	c.person = os.NewFile(uintptr(c.fd), "person")
	c.setSize(width, height)
	if c.before, err = term.GetState(int(device.Fd())); err != nil {
		t.Fatal(err)
	}
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append([]string{modeVariable + "=" + mode, "TERM=xterm-256color", "HOME=" + t.TempDir(), "TZ=UTC"}, environ...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = device, device, device
	c.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var goroutines sync.WaitGroup
	goroutines.Go(c.show)
	goroutines.Go(func() { _, _ = io.Copy(c.person, c.screen) }) // answers to queries
	goroutines.Go(func() { c.ended <- c.cmd.Wait() })
	t.Cleanup(func() {
		_ = unix.Kill(-c.cmd.Process.Pid, unix.SIGKILL)
		c.close()
		_ = c.screen.InputPipe().(io.Closer).Close()
		goroutines.Wait()
	})
	return c
}

// show shows what the program writes, until nothing can be read any more.
func (c *terminal) show() {
	buf := make([]byte, 64<<10)
	for {
		n, err := c.person.Read(buf)
		c.mu.Lock()
		if n > 0 {
			c.raw.Write(buf[:n])
			if !c.blind {
				_, _ = c.screen.Write(buf[:n])
			}
			c.writes++
		}
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// close closes the terminal's window.
func (c *terminal) close() {
	_ = c.device.Close()
	_ = c.person.Close()
}

// setSize changes the size of the window.
func (c *terminal) setSize(width, height int) {
	c.t.Helper()
	c.mu.Lock()
	c.screen.Resize(width, height)
	c.mu.Unlock()
	if err := unix.IoctlSetWinsize(c.fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width), Row: uint16(height)}); err != nil {
		c.t.Fatal(err)
	}
}

// press types on the keyboard.
func (c *terminal) press(keys string) {
	c.t.Helper()
	if _, err := c.person.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// signal sends a signal to the program.
func (c *terminal) signal(s unix.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// signalJob sends a signal to the job in the foreground.
func (c *terminal) signalJob(s unix.Signal) {
	c.t.Helper()
	group, err := unix.IoctlGetInt(c.fd, unix.TIOCGPGRP)
	if err == nil {
		err = unix.Kill(-group, s)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// patient is how long a test waits for what is to come: an end for a test that fails.
const patient = 60 * time.Second

// until waits until the screen satisfies a condition.
func (c *terminal) until(what string, holds func(shown string) bool) {
	c.t.Helper()
	timeout := time.After(patient)
	for {
		c.mu.Lock()
		shown, changed := c.text(), c.changed
		c.mu.Unlock()
		if holds(shown) {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			c.t.Fatalf("waited in vain for %s:\n%s", what, shown[max(0, len(shown)-5000):])
		}
	}
}

// finds waits until what the program has written after an offset matches, and returns the first group and the offset of
// the end.
func (c *terminal) finds(pattern *regexp.Regexp, from int) (group string, end int) {
	c.t.Helper()
	const longest = 1000 // of a match, which may be written in two parts
	timeout := time.After(patient)
	for {
		c.mu.Lock()
		raw, changed := c.raw.Bytes(), c.changed
		m := pattern.FindSubmatchIndex(raw[from:])
		if m != nil {
			group, end = string(raw[from+m[2]:from+m[3]]), from+m[1]
		}
		from = max(from, len(raw)-longest)
		c.mu.Unlock()
		if m != nil {
			return group, end
		}
		select {
		case <-changed:
		case <-timeout:
			c.t.Fatalf("waited in vain for %s, after %d bytes", pattern, from)
		}
	}
}

// shows waits for texts that are all visible, in the history or on the screen.
func (c *terminal) shows(texts ...string) {
	c.t.Helper()
	c.until(strings.Join(texts, ", "), func(shown string) bool {
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return false
			}
		}
		return true
	})
}

// text is what a person sees who scrolls up: the history, a line, and the screen.
func (c *terminal) text() string {
	var b strings.Builder
	for y := range c.screen.ScrollbackLen() {
		row := ""
		for x := range c.screen.Width() {
			if cell := c.screen.ScrollbackCellAt(x, y); cell != nil && cell.Content != "" {
				row += cell.Content
			} else if cell == nil || cell.Width == 1 {
				row += " "
			}
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	b.WriteString("──── screen\n")
	for _, row := range c.visible() {
		b.WriteString(row + "\n")
	}
	return b.String()
}

// visible are the rows of the screen.
func (c *terminal) visible() (rows []string) {
	for y := range c.screen.Height() {
		row := ""
		for x := range c.screen.Width() {
			if cell := c.screen.CellAt(x, y); cell != nil && cell.Content != "" {
				row += cell.Content
			} else if cell == nil || cell.Width == 1 {
				row += " "
			}
		}
		rows = append(rows, strings.TrimRight(row, " "))
	}
	return rows
}

// shown is text, for tests.
func (c *terminal) shown() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text()
}

// written is how often and what the program has written of late.
func (c *terminal) written() (writes int, raw string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes, c.raw.String()
}

// end waits for the program's end and its last words, after which the terminal has to be as it was.
func (c *terminal) end(words ...string) error {
	c.t.Helper()
	select {
	case err := <-c.ended:
		c.shows(words...)
		c.restored()
		return err
	case <-time.After(patient):
		c.t.Fatalf("the program does not end:\n%s", c.shown())
		return nil
	}
}

// restored checks the terminal.
func (c *terminal) restored() {
	c.t.Helper()
	after, err := term.GetState(int(c.device.Fd()))
	if err != nil {
		c.t.Fatal(err)
	}
	if !reflect.DeepEqual(after, c.before) {
		c.t.Errorf("the terminal's modes are %+v, and were %+v", after, c.before)
	}
	_, raw := c.written()
	for on, off := range map[string]string{"\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l", "\x1b[>4;2m": "\x1b[>4m", "\x1b[?2027h": "\x1b[?2027l"} {
		if at := strings.LastIndex(raw, on); at >= 0 && !strings.Contains(raw[at:], off) {
			c.t.Errorf("%q is not taken back by %q", on, off)
		}
	}
	if strings.Contains(raw, "\x1b[?1049h") {
		c.t.Error("the alternate screen was used")
	}
}

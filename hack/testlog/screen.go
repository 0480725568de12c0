package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is a line of go test -json.
type event struct {
	Action     string
	Package    string  `json:",omitempty"`
	ImportPath string  `json:",omitempty"` // of a package that is compiled
	Test       string  `json:",omitempty"`
	Elapsed    float64 `json:",omitempty"`
	Output     string  `json:",omitempty"`
}

// place is a test, or a package when the test is empty.
type place struct{ pkg, test string }

// screen shows events as go test would without -json, and keeps for the log how tests end.
type screen struct {
	mu      sync.Mutex
	out     io.Writer
	log     io.Writer
	printed map[place][]string  // of tests that have not ended
	began   map[place]time.Time // of those
	failed  []command
	ended   int
	shown   time.Time
}

func newScreen(out, log io.Writer) *screen {
	return &screen{out: out, log: log, printed: map[place][]string{}, began: map[place]time.Time{}, shown: time.Now()}
}

// read follows events to their end. What is no event, such as a word of the command itself, is shown as it is.
func (s *screen) read(events io.Reader) error {
	for lines := bufio.NewReader(events); ; {
		line, err := lines.ReadString('\n')
		if line != "" {
			if err := s.line(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *screen) line(line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var e event
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		s.show(line)
		return nil
	}
	return s.handle(e)
}

func (s *screen) handle(e event) error {
	at := place{e.Package, e.Test}
	switch e.Action {
	case "run", "cont":
		s.began[at] = time.Now()
	case "pause":
		delete(s.began, at) // it waits for others, as parallel tests do
	case "build-output":
		s.show(e.Output)
	case "output":
		s.output(at, e.Output)
	case "pass", "skip", "fail":
		if e.Action == "fail" {
			if err := s.showFailed(at); err != nil {
				return err
			}
		}
		delete(s.printed, at)
		delete(s.began, at)
		s.ended++
		return json.NewEncoder(s.log).Encode(e)
	}
	return nil
}

// output shows what a package says last, which is go test's own line, and keeps what a test prints until it has ended.
func (s *screen) output(at place, text string) {
	if at.test == "" && (text == "PASS\n" || text == "FAIL\n") {
		return // the line with the package's name follows
	}
	if at.test == "" && (strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "FAIL\t") || strings.HasPrefix(text, "---") || strings.HasPrefix(text, "panic:")) {
		s.show(text)
		return
	}
	s.printed[at] = append(s.printed[at], text)
}

// tail is how many lines are shown of a test that failed: the reason stands at the end, after what a script did.
const tail = 80

// showFailed shows the end of what a test printed, and keeps the whole in the log.
func (s *screen) showFailed(at place) error {
	lines := s.printed[at]
	if len(lines) > tail {
		for _, line := range lines {
			if err := json.NewEncoder(s.log).Encode(event{Action: "output", Package: at.pkg, Test: at.test, Output: line}); err != nil {
				return err
			}
		}
		s.show(fmt.Sprintf("=== %s: its last %d lines; %d before them are in the log\n", at.test, tail, len(lines)-tail))
		lines = lines[len(lines)-tail:]
	}
	s.show(lines...)
	return nil
}

func (s *screen) show(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(s.out, line)
		s.shown = time.Now()
	}
}

// failure remembers a command that failed.
func (s *screen) failure(c command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, c)
}

// rest shows what tests printed that did not come to an end, as when the program was killed, and the commands that
// failed: what others print may have followed.
func (s *screen) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range slices.SortedFunc(maps.Keys(s.began), func(a, b place) int { return strings.Compare(a.pkg+a.test, b.pkg+b.test) }) {
		s.show(fmt.Sprintf("--- did not end: %s %s\n", at.pkg, at.test))
		s.show(s.printed[at]...)
	}
	for _, c := range s.failed {
		s.show(fmt.Sprintf("failed in %s: %s\n", c.dir, strings.Join(c.args, " ")))
	}
}

// watch says what runs whenever nothing has been shown for so long.
func (s *screen) watch(silence time.Duration, ended <-chan struct{}) {
	ticker := time.NewTicker(silence / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case now := <-ticker.C:
			s.progress(now, silence)
		}
	}
}

// progress names the tests that run, without those whose subtests do.
func (s *screen) progress(now time.Time, silence time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.shown) < silence {
		return
	}
	var running []string
	for at, since := range s.began {
		parent := func(other place) bool { return other.pkg == at.pkg && strings.HasPrefix(other.test, at.test+"/") }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(s.began)), parent) {
			running = append(running, fmt.Sprintf("%s (%s)", at.test, now.Sub(since).Round(time.Second)))
		}
	}
	slices.Sort(running)
	const most = 4
	text := strings.Join(running[:min(most, len(running))], ", ")
	switch {
	case len(running) == 0:
		text = "compiling"
	case len(running) > most:
		text += fmt.Sprintf(" and %d more", len(running)-most)
	}
	s.show(fmt.Sprintf("… %d tests have ended; now: %s\n", s.ended, text))
}

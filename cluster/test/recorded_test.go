package test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// session is the recording that the tests of all who speak the protocol read. Its client lines are written by hand.
const session = "../../docs/protocol/session.jsonl"

// said is a line of a recording: what the client says, or the program.
type said struct {
	Client  json.RawMessage `json:"client,omitempty"`
	Program json.RawMessage `json:"program,omitempty"`
}

// TestRecordedSession: the program answers as it is recorded; -update records it.
func TestRecordedSession(t *testing.T) {
	recorded, err := os.ReadFile(session)
	if err != nil {
		t.Fatal(err)
	}
	got := record(t, newConfig(t), clientLines(t, recorded))
	if *update {
		if err := os.WriteFile(session, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(recorded), string(got)); diff != "" {
		t.Errorf("docs/protocol/session.jsonl (-want +got):\n%s", diff)
	}
}

func clientLines(t *testing.T, recorded []byte) []json.RawMessage {
	t.Helper()
	var lines []json.RawMessage
	for line := range bytes.Lines(recorded) {
		var s said
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		if s.Client != nil {
			lines = append(lines, s.Client)
		}
	}
	return lines
}

// record starts the program, says each line once the one before is answered, and returns all that was said.
func record(t *testing.T, config protocol.Config, lines []json.RawMessage) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), programPath, "serve", "--stdio", "--config", writeConfig(t, config))
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &recorder{t: t, lines: bufio.NewScanner(stdout), state: config.Dir}
	r.until("ready")
	for _, line := range lines {
		r.out = append(r.out, must[[]byte](t)(json.Marshal(said{Client: line})))
		if _, err := fmt.Fprintf(stdin, "%s\n", bytes.Trim(line, `"`)); err != nil {
			t.Fatal(err)
		}
		r.until("reply")
	}
	r.until("")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return append(bytes.Join(r.out, []byte("\n")), '\n')
}

// recorder notes what a program says, without what differs from run to run.
type recorder struct {
	t     *testing.T
	lines *bufio.Scanner
	state string
	out   [][]byte
}

// until notes lines up to an event; with no event up to the end. Components change their states side by side: these lines are put in order.
func (r *recorder) until(event string) {
	r.t.Helper()
	var lines [][]byte
	for r.lines.Scan() {
		var e struct{ Event string }
		if err := json.Unmarshal(r.lines.Bytes(), &e); err != nil {
			r.t.Fatal(err)
		}
		lines = append(lines, r.steady(r.lines.Bytes()))
		if e.Event == event {
			break
		}
	}
	isProgress := func(line []byte) bool { return bytes.Contains(line, []byte(`"event":"progress"`)) }
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && isProgress(lines[to]) {
			to++
		}
		slices.SortFunc(lines[from:to], bytes.Compare)
		from = max(from, to-1)
	}
	r.out = append(r.out, lines...)
}

var (
	ports   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	numbers = regexp.MustCompile(`("(?:pid|elapsedMs|uptimeMs|rssBytes|tookMs|objects|removed|restored)"):[\d.]+`)
	release = regexp.MustCompile(`("version"):"[^"]*"`)
)

// steady is a line with the same values for what differs between runs and machines.
func (r *recorder) steady(line []byte) []byte {
	text := strings.ReplaceAll(string(line), r.state, "/state")
	text = ports.ReplaceAllString(text, "127.0.0.1:6443")
	text = numbers.ReplaceAllString(text, "$1:1")
	text = release.ReplaceAllString(text, `$1:"v0.1.0"`)
	return must[[]byte](r.t)(json.Marshal(said{Program: json.RawMessage(text)}))
}

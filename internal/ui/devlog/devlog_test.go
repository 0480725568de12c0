package devlog_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// program is the log of a manager that everything writes to which Parse knows.
const program = "testdata/program.log"

// printer has the module of the program's frames.
func printer(color bool) *devlog.Printer {
	return &devlog.Printer{Color: color, Module: "tutorial.kubebuilder.io/project", Dir: "/home/ada/project", Zone: time.UTC}
}

// TestFormat: what a person reads of the log of a program.
func TestFormat(t *testing.T) {
	for name, color := range map[string]bool{"plain": false, "color": true} {
		p, got := printer(color), ""
		for line := range strings.Lines(read(t, program)) {
			text := strings.TrimSuffix(line, "\n")
			if shown := p.Format(devlog.Parse(text)); shown != "" || text == "" {
				got += shown + "\n"
			}
		}
		got = strings.ReplaceAll(got, "\x1b", "␛")
		golden := "testdata/" + name + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(read(t, golden), got); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", golden, diff)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestLongLine: a line is cut, and says by how much.
func TestLongLine(t *testing.T) {
	l := devlog.Parse(strings.Repeat("é", devlog.MaxLine))
	if l.Structured || !strings.HasSuffix(l.Message, "é… (65536 more bytes)") || len(l.Message) > devlog.MaxLine+50 {
		t.Errorf("%d bytes, ending with %q", len(l.Message), l.Message[len(l.Message)-30:])
	}
}

// TestUnstructured: other texts stay as they are, also those that resemble a log's line.
func TestUnstructured(t *testing.T) {
	for _, text := range []string{"", "hello", "{}", "{", `{"a":1}`, `{"msg":"x"} y`, "[1]", "a\tb\tc", `msg=x "`, "msg=x y", "I am] main.go:1] x", "goroutine 1 [running]:", "=msg"} {
		if l := devlog.Parse(text); l.Structured || l.Message != text {
			t.Errorf("Parse(%q) is %+v", text, l)
		}
	}
}

func TestFilter(t *testing.T) {
	lines := map[string]devlog.Line{
		"info":  {Structured: true, Level: devlog.Info, Controller: "cronjob", Object: "default/sample"},
		"warn":  {Structured: true, Level: devlog.Warn, Logger: "setup"},
		"none":  {Structured: true, Logger: "CronJob-webhook"},
		"panic": {Message: "panic: here"},
	}
	for text, want := range map[string]string{
		"": "info none panic warn", "WARN": "none panic warn", "error": "none panic", "cronjob": "info none panic", "setup sample": "info panic warn",
		"warning cronjob": "none panic", "nothing": "panic",
	} {
		f, got := devlog.ParseFilter(text), ""
		for _, name := range []string{"info", "none", "panic", "warn"} {
			if f.Shows(lines[name]) {
				got += " " + name
			}
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%q shows %s, want %s", text, got, want)
		}
	}
	if got := devlog.ParseFilter(" Cronjob  WARNING ").String(); got != "warn cronjob" {
		t.Errorf("%q", got)
	}
}

// FuzzFormat: no text makes a terminal act, grows without bounds, or is lost.
func FuzzFormat(f *testing.F) {
	data, err := os.ReadFile(program)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	for line := range strings.Lines(string(data)) {
		f.Add(strings.TrimSuffix(line, "\n"))
	}
	f.Add("{\"msg\":\"\x1b]0;x\a\",\"reconcileID\":\"\x1b[2J\",\"\\u202e\":1,\"controller\":\"\\u001b\"}")
	f.Fuzz(func(t *testing.T, text string) {
		p := printer(false)
		for line := range strings.SplitSeq(text, "\n") {
			l := devlog.Parse(line)
			shown := p.Format(l)
			if !utf8.ValidString(shown) || strings.ContainsAny(shown, "\x1b\a\r\b\u009b\u202e\x7f\x00") {
				t.Errorf("%q becomes %q", line, shown)
			}
			if len(shown) > 12*(len(line)+100) {
				t.Errorf("%d bytes become %d", len(line), len(shown))
			}
			if l.Structured && shown == "" {
				t.Errorf("nothing is shown of %q", line)
			}
		}
	})
}

// TestIsUsual: lines of a verbosity that controller-runtime's zap does not log by itself are known, in both of its
// forms.
func TestIsUsual(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-01-02T15:04:05Z\tINFO\tstarts":                                 true,
		"2026-01-02T15:04:05Z\tDEBUG\tlooks\t{\"controller\": \"widget\"}":   true,
		"2026-01-02T15:04:05Z\t\x1b[35mLevel(-5)\x1b[0m\tReconciling":        false,
		"2026-01-02T15:04:05Z\tLEVEL(-2)\tReconciling\t{\"level\": \"low\"}": false,
		`{"level":"info","msg":"starts"}`:                                    true,
		`{"level":"Level(-5)","msg":"Reconciling"}`:                          false,
		"plain": true,
		`{"level":"debug","ts":1764547200.5,"msg":"looks"}`:                       false,
		`{"time":"2026-01-02T15:04:05Z","level":"DEBUG","msg":"slog"}`:            true,
		`{"time":"2026-01-02T15:04:05Z","level":"debug","msg":"logrus"}`:          true,
		`{"ts":1764547200500.5,"caller":"a.go:1","msg":"klog","v":4}`:             true,
		`{"logger":"","ts":"2026-01-02 15:04:05.000000","level":1,"msg":"funcr"}`: true,
	} {
		if got := devlog.Parse(text).IsUsual(); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

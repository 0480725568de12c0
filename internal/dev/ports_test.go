package dev

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestFlags: a manager listens on loopback, or where it is asked for, if the project's own code has the flags; whoever
// names an address gets it.
func TestFlags(t *testing.T) {
	const all, theirs = "--health-probe-bind-address :8081 --webhook-host --webhook-port", "--health-probe-bind-address :8081"
	for _, test := range []struct {
		program, address string // the program's words
		args, want       []string
		library          bool // has the words, and the project does not
	}{
		{all, "", []string{"--leader-elect"}, []string{"--health-probe-bind-address=127.0.0.1:8081", "--webhook-host=127.0.0.1", "--leader-elect"}, false},
		{all, "0.0.0.0", nil, []string{"--health-probe-bind-address=0.0.0.0:8081", "--webhook-host=0.0.0.0"}, false},
		{all, "::1", nil, []string{"--health-probe-bind-address=[::1]:8081", "--webhook-host=::1"}, false},
		{all, "", []string{"-health-probe-bind-address", ":1", "--webhook-host="}, []string{"-health-probe-bind-address", ":1", "--webhook-host="}, false},
		{theirs, "", nil, []string{"--health-probe-bind-address=127.0.0.1:8081"}, false},
		{theirs, "0.0.0.0", nil, []string{"--health-probe-bind-address=0.0.0.0:8081"}, false},
		{"--health-probe-bind-address :1", "", []string{"x"}, []string{"x"}, false},
		{"--health-addr :8081", "", nil, nil, false},
		{all, "", []string{"start"}, []string{"start"}, true},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "manager")
		code := "package main\n"
		if !test.library {
			code = definingFlags(strings.Fields(test.program)...)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, []byte(test.program), 0o755); err != nil {
			t.Fatal(err)
		}
		o := Options{Address: test.address, Code: codeIn(dir), Handler: report.Discard}
		l, err := o.listens(test.args)
		if err != nil {
			t.Fatal(err)
		}
		placed, err := o.place(Program{Path: program}, l, flagsOf(o.Code()), false)
		got := placed.args
		for i, flag := range got {
			if host, ok := strings.CutSuffix(flag, ":0"); ok { // another program, or test, has the port at the moment
				got[i] = host + ":" + probePort
			}
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s at %q with %q: %q, %v; want %q", test.program, test.address, test.args, got, err, test.want)
		}
	}
}

// TestListens: where slipway listens for calls, and what the API server is to call.
func TestListens(t *testing.T) {
	for _, test := range []struct {
		address, called string
		args            []string
		listens, calls  string // where the free port is 1234
	}{
		{"", "", nil, "127.0.0.1:0", "127.0.0.1:1234"},
		{"0.0.0.0", "", []string{"--webhook-port=9444"}, "0.0.0.0:0", "127.0.0.1:1234"},
		{"::", "", nil, "[::]:0", "127.0.0.1:1234"},
		{"192.0.2.1", "192.0.2.1", nil, "192.0.2.1:0", "192.0.2.1:1234"},
		{"", "host.example.com:9444", nil, "127.0.0.1:9444", "host.example.com:9444"},
		{"", "host.example.com:9444", []string{"-webhook-port", "1"}, "127.0.0.1:1", "host.example.com:9444"},
	} {
		l, err := Options{Address: test.address, WebhookAddress: test.called}.listens(test.args)
		if err != nil || l.proxied() != test.listens {
			t.Errorf("%+v: listens at %s, %v", test, l.proxied(), err)
		}
		host, _, _ := net.SplitHostPort(l.proxied())
		if got := l.reached(net.JoinHostPort(host, "1234")); got != test.calls {
			t.Errorf("%+v: is called at %s", test, got)
		}
	}
	if _, err := (Options{Address: "nowhere"}).listens(nil); err == nil {
		t.Error("a name is taken for an address")
	}
}

// TestPlaceWebhooks: a manager with flags for it serves its webhooks on loopback, at another port if its own is taken,
// and one without flags is refused where that is so, and else warned of.
func TestPlaceWebhooks(t *testing.T) {
	address, free := listen(t)
	_, port, _ := net.SplitHostPort(address)
	for _, test := range []struct {
		words           []string // of the program; the user names the port
		taken           bool
		warned, refused bool
	}{
		{[]string{"--webhook-host", "--webhook-port"}, true, false, false},
		{[]string{"--webhook-port"}, true, true, false},
		{[]string{"--webhook-host", "--webhook-port"}, false, false, false},
		{[]string{"--webhook-port"}, false, true, false},
	} {
		if !test.taken {
			free()
		}
		dir := t.TempDir()
		program := filepath.Join(dir, "manager")
		for name, text := range map[string]string{"manager": strings.Join(test.words, " "), "main.go": definingFlags(test.words...)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		warned := false
		o := Options{Code: codeIn(dir), Handler: report.HandlerFunc(func(e report.Event) { _, warned = e.(report.Warning) })}
		placed, err := o.place(Program{Path: program}, listening{host: Loopback, args: []string{"--webhook-port", port, "-v=2"}}, flagsOf(o.Code()), true)
		if (err != nil) != test.refused || warned != test.warned {
			t.Errorf("%+v: %v, warned %t", test, err, warned)
		}
		if moved := placed.webhooks != address; err == nil && moved != test.taken {
			t.Errorf("%+v: it serves at %s, and %s is free: %t", test, placed.webhooks, address, !test.taken)
		}
		if _, at, _ := net.SplitHostPort(placed.webhooks); err == nil && flagValue(placed.args, webhookPortFlag) != at || err == nil && placed.args[len(placed.args)-1] != "-v=2" {
			t.Errorf("%+v: its arguments are %q", test, placed.args)
		}
	}
}

// TestProbesElsewhere: what listens at the address of the health probes does not keep a manager from starting.
func TestProbesElsewhere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:"+probePort)
	if err == nil {
		defer l.Close()
	} // else another program has it
	o := Options{Handler: report.Discard}
	if got := o.probes(listening{host: Loopback}); got != "127.0.0.1:0" {
		t.Errorf("the probes are at %s", got)
	}
}

// TestWebhooksTaken: the cluster is not told to ask who serves there already.
func TestWebhooksTaken(t *testing.T) {
	address, free := listen(t)
	err := webhooksTaken(address)
	if refused, ok := errors.AsType[*report.Error](err); !ok || refused.Where != address || refused.Next == "" {
		t.Errorf("taken: %v", err)
	}
	free()
	if err := webhooksTaken(address); err != nil {
		t.Errorf("free: %v", err)
	}
}

// listen takes an address of loopback, until free is called.
func listen(t *testing.T) (address string, free func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String(), func() { l.Close() }
}

// definingFlags is a program that defines those of the words that are flags.
func definingFlags(words ...string) string {
	code := "package main\n\nfunc main() {\n"
	for _, word := range words {
		if name, is := strings.CutPrefix(word, "--"); is {
			code += fmt.Sprintf("\tflag.String(%q, \"\", \"\")\n", name)
		}
	}
	return code + "}\n"
}

// TestStarted: a manager gets the project's arguments and the user's, and flags of its own behind a subcommand.
func TestStarted(t *testing.T) {
	m := codebase.Start{Arguments: []string{"start", "--debug"}}
	for _, test := range []struct{ args, want []string }{
		{nil, []string{"start", "--webhook-host=127.0.0.1", "--debug"}},
		{[]string{"--more"}, []string{"start", "--webhook-host=127.0.0.1", "--debug", "--more"}},
		{[]string{"stop", "--now"}, []string{"stop", "--webhook-host=127.0.0.1", "--now"}},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "manager")
		for name, text := range map[string]string{"manager": "--webhook-host --webhook-port", "main.go": definingFlags("--webhook-host", "--webhook-port")} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Options{}.place(Program{Path: program}, listening{host: Loopback, args: started(m, test.args)}, flagsOf(codeIn(dir)()), false)
		if err != nil || !slices.Equal(got.args, test.want) {
			t.Errorf("%q: got %q, %v, want %q", test.args, got.args, err, test.want)
		}
	}
}

// TestObserved: a manager logs where its reconciles begin and end if nothing else says how much it logs.
func TestObserved(t *testing.T) {
	const binds = "opts.BindFlags(flag.CommandLine)"
	for code, args := range map[string][]string{
		binds: {"-v=2"}, binds + " ": {"--zap-devel=false"}, "opts.Level = level; " + binds: nil,
		binds + "; zap.New(zap.JSONEncoder())": nil, "flag.Parse()": nil,
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "manager")
		for name, text := range map[string]string{"manager": zapFlag, "main.go": "package main\n\nfunc main() { " + code + " }\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{Code: codeIn(dir), Observed: true}
		placed, err := o.place(Program{Path: program}, listening{host: Loopback, args: args}, flagsOf(o.Code()), false)
		want := code == binds
		if err != nil || placed.observed != want || slices.Contains(placed.args, "--zap-log-level=5") != want {
			t.Errorf("%s: %q, observed %t, %v", code, placed.args, placed.observed, err)
		}
	}
}

// TestLogLevel: a manager whose code binds the flags of controller-runtime's zap gets another level, in place of the
// user's; another manager starts as before, with a warning.
func TestLogLevel(t *testing.T) {
	for code, want := range map[string][]string{
		"opts.BindFlags(flag.CommandLine)": {"--zap-log-level=5", "-v=2"},
		"flag.Parse()":                     {"--zap-log-level", "info", "-v=2"},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "manager")
		for name, text := range map[string]string{"manager": zapFlag, "main.go": "package main\n\nfunc main() { " + code + " }\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		warned := false
		o := Options{Code: codeIn(dir), LogLevel: "5", Handler: report.HandlerFunc(func(e report.Event) { _, warned = e.(report.Warning) })}
		placed, err := o.place(Program{Path: program}, listening{host: Loopback, args: []string{"--zap-log-level", "info", "-v=2"}}, flagsOf(o.Code()), false)
		if err != nil || !slices.Equal(placed.args, want) || warned != (len(want) == 3) {
			t.Errorf("%s: %q, warned %t, %v", code, placed.args, warned, err)
		}
	}
}

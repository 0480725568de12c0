package test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// recordings is the folder of what the tests of all who speak the protocol read. Lines of the config, the command and
// the client are written by hand.
const recordings = "../../docs/inside/protocol"

// recorded is a line of a recording.
type recorded struct {
	Config  json.RawMessage `json:"config,omitempty"`  // what the program is started with
	Command []string        `json:"command,omitempty"` // or its arguments, where it only prints
	Object  json.RawMessage `json:"object,omitempty"`  // what is created in the cluster meanwhile
	Client  json.RawMessage `json:"client,omitempty"`
	Program json.RawMessage `json:"program,omitempty"`
}

// TestRecordings: the program answers as it is recorded; -update records it.
func TestRecordings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"version", "failed", "session", "joined", "plain"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(recordings, name+".jsonl")
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(want, []byte(recordedNode)) && runtime.GOOS != "linux" {
				t.Skip("isolated nodes need Linux")
			}
			got := record(t, want)
			if bytes.Contains(got, []byte("this kernel cannot redirect pods' connections to the network")) {
				t.Skip("egress needs nftables with tproxy")
			}
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if runtime.GOOS != "linux" { // the only system on which the program knows its memory
				want = bytes.ReplaceAll(want, []byte(`"rssBytes":1,`), nil)
			}
			if diff := gocmp.Diff(inTime(want), inTime(got)); diff != "" {
				t.Errorf("-recorded +now:\n%s", diff)
			}
		})
	}
}

var workerStopped = regexp.MustCompile(`(?m)^.*"component":"(apiserver|nodes|controllers|scheduler)","state":"stopped".*\n`)

// inTime leaves out what a cluster only says if it comes in time: one that ends waits no longer than a moment for its
// API server and its workers, which end with the process.
func inTime(recording []byte) string { return string(workerStopped.ReplaceAll(recording, nil)) }

// record does what the lines of a recording that are written by hand say, and returns all that is said.
func record(t *testing.T, recording []byte) []byte {
	t.Helper()
	r := &recorder{t: t, state: newConfig(t).Dir}
	for line := range bytes.Lines(recording) {
		var said recorded
		if err := json.Unmarshal(line, &said); err != nil {
			t.Fatal(err)
		}
		if said.Program != nil {
			continue
		}
		r.note(said)
		switch {
		case said.Config != nil:
			r.start(said.Config)
			r.until("ready")
		case said.Command != nil:
			r.print(said.Command)
		case said.Object != nil:
			r.create(said.Object)
		default:
			r.say(said.Client)
			r.until("reply")
		}
	}
	r.finish()
	return r.out.Bytes()
}

// recorder notes what a program says, without what differs from run to run.
type recorder struct {
	t     *testing.T
	state string
	cmd   *exec.Cmd // nil where the program only prints
	stdin io.WriteCloser
	lines *bufio.Scanner
	door  string // the kubeconfig of the door that is open; empty without one
	out   bytes.Buffer
}

func (r *recorder) note(line recorded) {
	r.t.Helper()
	r.out.Write(must[[]byte](r.t)(json.Marshal(line)))
	r.out.WriteByte('\n')
}

// start starts the program with a configuration.
func (r *recorder) start(config json.RawMessage) {
	r.t.Helper()
	text := r.here(config)
	file := filepath.Join(filepath.Dir(r.state), "config.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.cmd = exec.CommandContext(r.t.Context(), programPath, "serve", "--stdio", "--config", file)
	r.cmd.WaitDelay = testlimit.Hang
	var err error
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		r.t.Fatal(err)
	}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	r.lines = bufio.NewScanner(stdout)
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
}

// here is a line that is written by hand, with the paths of this run.
func (r *recorder) here(line json.RawMessage) string {
	return strings.NewReplacer(`"/state`, `"`+r.state, `"`+recordedNode, `"`+nodeProgram()).Replace(string(line))
}

// print notes what a command of the program prints.
func (r *recorder) print(args []string) {
	r.t.Helper()
	out, err := exec.CommandContext(r.t.Context(), programPath, args...).Output()
	if err != nil {
		r.t.Fatal(err)
	}
	r.note(recorded{Program: r.steady(out)})
}

// say says a line. A text is said as it is: it is no request.
func (r *recorder) say(line json.RawMessage) {
	r.t.Helper()
	if bytes.Contains(line, []byte(`"closeDoor"`)) {
		r.door = ""
	}
	if _, err := fmt.Fprintln(r.stdin, strings.Trim(r.here(line), `"`)); err != nil {
		r.t.Fatal(err)
	}
}

// create creates an object: through the door, if one is open, until that is reported; else until a status says where
// it answers.
func (r *recorder) create(object json.RawMessage) {
	r.t.Helper()
	var o unstructured.Unstructured
	if err := o.UnmarshalJSON(object); err != nil {
		r.t.Fatal(err)
	}
	plural, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	c := clientsOf(r.t, cmp.Or(r.door, filepath.Join(r.state, "kubeconfig")))
	must[*unstructured.Unstructured](r.t)(c.dynamic.Resource(plural).Namespace(o.GetNamespace()).Create(r.t.Context(), &o, metav1.CreateOptions{}))
	if r.door != "" {
		r.until("request")
		return
	}
	eventually(r.t, "a status has "+o.GetName(), func(context.Context) (bool, error) {
		if _, err := fmt.Fprintln(r.stdin, `{"id":1000,"method":"status"}`); err != nil || !r.lines.Scan() {
			return false, fmt.Errorf("no answer: %w", errors.Join(err, r.lines.Err()))
		}
		var reply struct {
			ID     int
			Result protocol.Status
		}
		if err := json.Unmarshal(r.lines.Bytes(), &reply); err != nil || reply.ID != 1000 {
			r.t.Fatalf("%s instead of a status: %v", r.lines.Bytes(), err)
		}
		return slices.ContainsFunc(reply.Result.Addresses, func(a protocol.Address) bool { return a.Kind == o.GetKind() && a.Name == o.GetName() }), nil
	})
}

// finish ends the program's input, unless a request ends the program, and notes its last lines.
func (r *recorder) finish() {
	r.t.Helper()
	if r.cmd == nil {
		return
	}
	if !bytes.Contains(r.out.Bytes(), []byte(`"method":"stop"`)) { // otherwise it may stop for either reason
		_ = r.stdin.Close() // fails when the program has ended
	}
	r.until("")
	failed := bytes.Contains(r.out.Bytes(), []byte(`"event":"failed"`))
	if err := r.cmd.Wait(); failed != (err != nil) {
		r.t.Fatalf("failed: %t, and it ended with %v", failed, err)
	}
}

// until notes lines up to an event, or a failure; with no event up to the end.
func (r *recorder) until(event string) {
	r.t.Helper()
	var progress []protocol.Progress // components change their states side by side
	flush := func() {
		slices.SortStableFunc(progress, func(a, b protocol.Progress) int { return cmp.Compare(a.Component, b.Component) })
		for _, p := range progress {
			r.note(recorded{Program: r.steady(must[[]byte](r.t)(protocol.Encode(p)))})
		}
		progress = nil
	}
	defer flush()
	for r.lines.Scan() {
		var e struct {
			Event, Text string
			protocol.Progress
			Result protocol.DoorOpened
		}
		if err := json.Unmarshal(r.lines.Bytes(), &e); err != nil {
			r.t.Fatal(err)
		}
		if strings.HasPrefix(e.Result.Kubeconfig, filepath.Join(r.state, "doors")) {
			r.door = e.Result.Kubeconfig
		}
		switch {
		case e.Event == "progress":
			progress = append(progress, e.Progress)
			continue
		case e.Event == "note" && strings.Contains(e.Text, "because"):
			r.t.Skip(e.Text) // plain nodes in place of isolated ones
		case e.Event == "note" && !strings.Contains(e.Text, "plain processes"):
			continue // what isolated nodes lack on this machine
		case e.Event == "note": // comes beside the changes of other components
			r.note(recorded{Program: r.steady(r.lines.Bytes())})
			continue
		}
		flush()
		r.note(recorded{Program: r.steady(r.lines.Bytes())})
		if e.Event == event || e.Event == "failed" {
			return
		}
	}
}

// recordedNode stands for the path of slipway-node.
const recordedNode = "/programs/slipway-node"

var (
	ports      = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	ranges     = regexp.MustCompile(`127\.\d+\.\d+\.([12]):\d+`)
	numbers    = regexp.MustCompile(`("(?:pid|elapsedMs|uptimeMs|rssBytes|tookMs|latencyMs|objects|removed|restored|began|ended|revision)"):[\d.]+`)
	versions   = regexp.MustCompile(`("resourceVersion"):"\d+"`)
	releases   = regexp.MustCompile(`("(?:version|kubernetes)"):"[^"]*"`)
	texts      = regexp.MustCompile(`("text"):"(?:[^"\\]|\\.)*"`)
	components = regexp.MustCompile(`"components":\[[^]]*\]`)
)

// steady is a line with the same values for what differs between runs and machines, as docs/inside/protocol.md lists
// it.
func (r *recorder) steady(line []byte) json.RawMessage {
	r.t.Helper()
	text := strings.ReplaceAll(strings.TrimSpace(string(line)), r.state, "/state")
	text = ports.ReplaceAllString(text, "127.0.0.1:1")
	text = ranges.ReplaceAllStringFunc(text, func(at string) string {
		if at == "127.0.0.1:1" {
			return at
		}
		return ranges.ReplaceAllString(at, "127.64.0.$1:1")
	})
	text = numbers.ReplaceAllString(text, "$1:1")
	text = versions.ReplaceAllString(text, `$1:"1"`)
	if !strings.Contains(text, `"event":"request"`) { // whose version is that of a resource
		text = releases.ReplaceAllString(text, `$1:"1.0.0"`)
	}
	text = texts.ReplaceAllString(text, `$1:"words"`)
	text = components.ReplaceAllStringFunc(text, r.steadyComponents)
	return json.RawMessage(text)
}

// steadyComponents puts the components of a status in order.
func (r *recorder) steadyComponents(text string) string {
	r.t.Helper()
	var status protocol.Status
	if err := json.Unmarshal([]byte("{"+text+"}"), &status); err != nil {
		r.t.Fatal(err)
	}
	slices.SortFunc(status.Components, func(a, b protocol.Component) int { return cmp.Compare(a.Name, b.Name) })
	for i := range status.Components {
		status.Components[i].Message = "words"
	}
	return `"components":` + string(must[[]byte](r.t)(json.Marshal(status.Components)))
}

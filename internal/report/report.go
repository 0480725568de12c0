// Package report holds what every part of Slipway reports its user: events while
// it works, and the error it ends with.
//
// A facade takes a [Handler] and sends it events; it never prints. The command
// line decides how they look: text for people, JSON lines for programs,
// annotations for CI (package ui). A failure of the tool is an [Error]; a
// finding about the user's code is a [Finding] and not an error.
//
// The package imports no other package of the repository, so that all may use it.
package report

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Handler receives events in the order in which they happen. It must be safe
// for use by several goroutines.
type Handler interface {
	Handle(Event)
}

// HandlerFunc makes a function a [Handler].
type HandlerFunc func(Event)

// Handle calls f.
func (f HandlerFunc) Handle(e Event) { f(e) }

// Discard drops every event.
var Discard Handler = HandlerFunc(func(Event) {})

// An Event is one of the types of this package that say so: [Step], [Progress], [Detail],
// [File], [Object], [Part], [Output], [Note], [Warning], [Finding], [Test] or [Result].
type Event interface{ event() }

// A Step is a piece of work that ended, or that begins when Elapsed is zero. The user is shown that it goes on
// until the next event comes: begin steps that may take longer than three seconds. Simulated is for the end of the wait
// for a workload that runs no container.
type Step struct {
	Name      string        `json:"name"`
	Elapsed   time.Duration `json:"elapsedNanoseconds,omitempty"`
	Simulated bool          `json:"simulated,omitempty"`
}

// Progress says how far a long piece of work has come: Done of Total, in units such as KiB. Left is an estimate; zero
// means unknown, and so does a Total of zero.
type Progress struct {
	Name    string        `json:"name"`
	Done    int           `json:"done"`
	Total   int           `json:"total"`
	Unit    string        `json:"unit,omitempty"`
	Elapsed time.Duration `json:"elapsedNanoseconds"`
	Left    time.Duration `json:"leftNanoseconds,omitempty"`
}

// Detail is what the step that goes on is doing. It is shown with the next sign of life of the step, if there is one.
type Detail struct {
	Text string `json:"text"`
}

// Action is what happened, or would happen, to a file or an object.
type Action string

// The actions.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged"
	Deleted   Action = "deleted"
	Moved     Action = "moved"
	Kept      Action = "kept" // the user's own version stays
)

// File is a change to one file. Path is relative to the project where it can be.
type File struct {
	Path   string `json:"path"`
	Action Action `json:"action"`
	From   string `json:"from,omitempty"` // of a moved file: where it was
	Why    string `json:"why,omitempty"`
}

// ObjectRef names an object of a cluster for programs.
type ObjectRef struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"` // empty for objects without one
	Name      string `json:"name"`
}

// Object is a change to one object of a cluster. Name is for people, like "crd/cronjobs.batch.example.com".
type Object struct {
	Name   string     `json:"name"`
	Action Action     `json:"action"`
	Why    string     `json:"why,omitempty"`
	Object *ObjectRef `json:"object,omitempty"` // set wherever the kind is known
}

// PartName names a part of the dev loop.
type PartName string

// The parts of the dev loop.
const (
	ClusterPart  PartName = "cluster"
	GeneratePart PartName = "generate"
	InstallPart  PartName = "install"
	BuildPart    PartName = "build"
	ManagerPart  PartName = "manager"
	WebhooksPart PartName = "webhooks"
	TestsPart    PartName = "tests"
	KubectlPart  PartName = "kubectl" // no part of the dev loop, but a program whose lines are reported alike
)

// PartState is what a part of the dev loop is doing.
type PartState string

// The states of a part.
const (
	Working PartState = "working"
	Ready   PartState = "ready"
	Failed  PartState = "failed" // until the next save; what ran before goes on
	Idle    PartState = "idle"   // there is nothing to do
)

// Part is a new state of a part of the dev loop. Save counts the user's saves: it is the one that the state follows
// from, and 0 before the first one.
type Part struct {
	Name    PartName      `json:"name"`
	State   PartState     `json:"state"`
	Save    int           `json:"save,omitempty"`
	Elapsed time.Duration `json:"elapsedNanoseconds,omitempty"`
	Text    string        `json:"text,omitempty"`
}

// Output is a line that a program of the dev loop, or kubectl, has printed.
type Output struct {
	Part PartName `json:"part"`
	Text string   `json:"text"`
}

// Note is a fact that the user may want to know.
type Note struct {
	Text string `json:"text"`
}

// Warning is a likely mistake that does not stop the command.
type Warning struct {
	Text string `json:"text"`
}

// Position is a place in a file; Line and Column start at 1 and are 0 when unknown.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String formats p as file:line:column, leaving out what is unknown.
func (p Position) String() string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Outcome is how a test or the tests of a package ended.
type Outcome string

// The outcomes.
const (
	Passed     Outcome = "passed"
	TestFailed Outcome = "failed"
	Skipped    Outcome = "skipped"
)

// Test is the end of a test, or of all tests of a package when Test is empty. Output is set if it failed.
type Test struct {
	Package string        `json:"package"`
	Test    string        `json:"test,omitempty"`
	Outcome Outcome       `json:"outcome"`
	Elapsed time.Duration `json:"elapsedNanoseconds"`
	Output  string        `json:"output,omitempty"`
}

// Fix is a replacement of a part of one line of the file in which a finding is. The zero value is none. It is no
// pointer, so that equal findings are equal.
type Fix struct {
	Line        int    `json:"line"`      // starts at 1
	Column      int    `json:"column"`    // of the first byte, from 1
	EndColumn   int    `json:"endColumn"` // of the byte behind the last one
	Replaces    string `json:"replaces"`  // what is there, so that no other text is replaced
	Replacement string `json:"replacement"`
}

// Finding is a mistake in the user's own code or configuration.
type Finding struct {
	Position
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
	// Fatal findings fail the command once all findings are reported.
	Fatal bool `json:"fatal"`
	Rule  Rule `json:"rule"`
	Fix   Fix  `json:"fix,omitzero"` // if a replacement of text removes the finding
}

// Result is the answer of a command. Text is for people and may be empty; Value
// is what `--output json` prints.
type Result struct {
	Text  string `json:"-"`
	Bare  bool   `json:"-"` // Text ends without a new line, for other programs
	Value any    `json:"value"`
}

func (Step) event()     {}
func (Progress) event() {}
func (Detail) event()   {}
func (File) event()     {}
func (Object) event()   {}
func (Part) event()     {}
func (Output) event()   {}
func (Note) event()     {}
func (Warning) event()  {}
func (Finding) event()  {}
func (Test) event()     {}
func (Result) event()   {}

// Error is a failure as its user meets it: what went wrong, where, why, what was
// expected and which command to type next. Only What is required.
type Error struct {
	What  string // a short sentence without a full stop: `no project in this folder`
	Where string // file:line:column, a path, a flag such as --kind, or an object
	// Object is the object that Where names, if it names one.
	Object *ObjectRef
	// Unready lists what keeps it from being ready, for an error of the class [NotReady].
	Unready []Unready
	Hint    string // what was expected
	Next    string // a command to type next
	Err     error  // the cause
	Class   Class  // the kind of cause, which has an exit code
	Code    int    // exit code; 0 means that of the class, else 2 where Where is a flag, else 1
}

// Unready is one reason why an object is not ready. Only Object and Reason are always set.
type Unready struct {
	Object    ObjectRef `json:"object"`
	Pod       string    `json:"pod,omitempty"`
	Container string    `json:"container,omitempty"`
	Reason    string    `json:"reason"`          // as Kubernetes has it, such as ImagePullBackOff
	Probe     string    `json:"probe,omitempty"` // a readiness check that fails
	Message   string    `json:"message,omitempty"`
}

// Error puts the parts on one line; package ui prints them on several.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	b.WriteString(e.What)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Advised is an error on one line, with the command that helps if it names one.
func Advised(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Next != "" {
		return err.Error() + "; try: " + e.Next
	}
	return err.Error()
}

// UsageCode is the exit code of a mistake on the command line.
const UsageCode = 2

// ExitCode is the status that the process ends with: e.Code; without one that of the class; else it is 2 for an error
// whose place is a flag, since that is a mistake on the command line, and 1 for all others.
func (e *Error) ExitCode() int {
	if code := cmp.Or(e.Code, e.Classified().code()); code != 0 {
		return code
	}
	if e.ofFlag() {
		return UsageCode
	}
	return 1
}

// ofFlag reports whether the place of e is a flag.
func (e *Error) ofFlag() bool { return strings.HasPrefix(e.Where, "--") }

// Name is the path or, of a moved file, both: "from -> to".
func (f File) Name() string {
	if f.From != "" {
		return f.From + " -> " + f.Path
	}
	return f.Path
}

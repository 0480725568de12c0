// Package gotest writes what a proof has found as a Go test, which runs one plan again on clustertest.
//
//	text, err := gotest.Render(finding, scenario, project)
//
// The test fails as long as the operator has the mistake. Not each plan can be written so: the error says why.
package gotest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

//go:embed test.go.tmpl
var layout string

// A Project is what a test has to know of the operator's. Paths are relative to the test's folder.
type Project struct {
	Header      string // of its Go files
	Package     string // of the test
	CRDs        string // folder
	Roles       string // folder
	Manager     string // the package of the manager
	Arguments   []string
	Environment []string // NAME=VALUE
	Kinds       prove.Kinds
}

// ErrUnwritable is why a plan cannot be written as a test.
var ErrUnwritable = errors.New("a test cannot be written")

func unwritable(format string, words ...any) error {
	return fmt.Errorf("%w for %s", ErrUnwritable, fmt.Sprintf(format, words...))
}

// data are what the template has.
type data struct {
	Project
	ID, Sentence    string
	Environment     []variable
	Steps           []step
	Expectations    []expectation
	Kills, Touches  bool
	Objects, Fields bool // are looked at
}

type variable struct{ Name, Value string }

// A step is one of the scenario, and what of the fault comes with it. Texts are Go expressions.
type step struct {
	Number   int
	Name     string
	Verb     string
	Manifest string
	Fields   string // of a patch
	Fault    string // empty: none
	Touch    string // the object that others write before the failure is released; empty: it is not
	Rests    bool   // before and behind that
	Release  bool   // the failure lasts until then
	Kill     bool   // the operator is killed and started again
	Again    bool   // and later once more
}

// Render writes the test of a finding.
func Render(f prove.Finding, scenario prove.Scenario, project Project) ([]byte, error) {
	plan := f.Plans[0]
	if plan.Then != "" {
		return nil, unwritable("two failures")
	}
	d := &data{Project: project, ID: plan.ID(), Sentence: comment(plan.Sentence(scenario.Steps))}
	for _, pair := range project.Environment {
		name, value, _ := strings.Cut(pair, "=")
		d.Environment = append(d.Environment, variable{name, value})
	}
	if err := d.addSteps(plan, scenario.Steps[:f.Symptom.Step+1]); err != nil {
		return nil, err
	}
	if err := d.expect(f.Symptom); err != nil {
		return nil, err
	}
	t, err := template.New("").Parse(layout)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, d); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

// addSteps adds those up to the one that shows the symptom.
func (d *data) addSteps(plan prove.Plan, steps []prove.Step) error {
	for i, s := range steps {
		one, err := d.step(s)
		if err != nil {
			return err
		}
		one.Number = i + 1
		if i == plan.Point.Step || plan.Kind == prove.Restarted {
			if err := d.befall(&one, plan, s); err != nil {
				return err
			}
		}
		d.Kills, d.Touches = d.Kills || one.Kill, d.Touches || one.Touch != ""
		one.Again = plan.Kind == prove.Restarted && i+1 < len(steps)
		d.Steps = append(d.Steps, one)
	}
	return nil
}

// step is a step of the scenario without a fault.
func (d *data) step(s prove.Step) (one step, err error) {
	one.Name = comment(s.String())
	switch {
	case s.Apply != nil:
		one.Verb = "apply"
		text, err := yaml.Marshal(d.placed(s.Apply))
		if err != nil {
			return one, err
		}
		one.Manifest = literal(string(text))
	case s.Patch != nil:
		one.Verb, one.Manifest = "patch", d.identity(s.Patch)
		text, err := json.Marshal(s.Fields())
		if err != nil {
			return one, err
		}
		one.Fields = literal(string(text))
	case s.Delete != nil:
		one.Verb, one.Manifest = "delete", d.identity(s.Delete)
	default:
		return one, unwritable("a step that scales an object or runs a command: %s", s)
	}
	return one, nil
}

// refusals are the kinds in which one request is answered in place of the server.
var refusals = []prove.Kind{prove.Conflict, prove.Failure, prove.ReadFailure, prove.Timeout, prove.Throttled, prove.TooMany}

// befall adds the plan's fault to the step in which it comes.
func (d *data) befall(one *step, plan prove.Plan, s prove.Step) error {
	fault := func(kind, more string) string {
		p := plan.Point
		text := "clustertest.Fault{Kind: clustertest." + kind + more
		for _, f := range []struct{ name, value string }{{"Verb", p.Verb}, {"Group", p.Group}, {"Resource", p.Resource}, {"Subresource", p.Subresource}, {"Namespace", p.Namespace}, {"Name", p.Prefix()}} {
			if f.value != "" {
				text += fmt.Sprintf(", %s: %q", f.name, f.value)
			}
		}
		if p.Nth > 1 {
			text += fmt.Sprintf(", Skip: %d", p.Nth-1)
		}
		return text + "}"
	}
	answer, refused := plan.Answer()
	switch {
	case plan.Kind == prove.Without:
	case plan.Kind == prove.Restarted:
		one.Kill = true
	case plan.Kind == prove.Lost:
		one.Fault = fault("Lost", "")
	case plan.Kind == prove.KilledAfter:
		one.Fault, one.Kill = fault("KilledAfter", ""), true
	case plan.Kind == prove.KilledBefore:
		one.Fault, one.Kill = fault("KilledBefore", ""), true
	case plan.Kind == prove.Stale:
		object := identityOf(s)
		if of := d.Kinds[object.GroupVersionKind().GroupKind()]; of.Resource == plan.Point.Resource && object.GroupVersionKind().Group == plan.Point.Group {
			return unwritable("a watch that lags behind a write of the step's own object")
		}
		one.Fault, one.Touch, one.Rests, one.Release = fault("Stale", ""), d.identity(object.Object), true, true
	case plan.Kind == prove.Overtaken:
		object := d.named(plan.Point)
		if object == nil {
			return unwritable("an object of an unknown kind: %s", plan.Point)
		}
		one.Fault, one.Touch, one.Release = fault("Overtaken", ""), d.identity(object), true
	case refused && slices.Contains(refusals, plan.Kind):
		more := fmt.Sprintf(", Status: %d", answer.Status)
		if answer.RetryAfter > 0 {
			more += fmt.Sprintf(", RetryAfter: %d * time.Second", answer.RetryAfter)
		}
		if plan.Kind == prove.Failure { // for a while
			more += ", Lasts: true"
			one.Rests, one.Release = true, true
		}
		one.Fault = fault("Refused", more)
	default:
		return unwritable("a plan of the kind %s", plan.Kind)
	}
	return nil
}

// identityOf names the object of a step.
func identityOf(s prove.Step) *unstructured.Unstructured {
	for _, object := range []map[string]any{s.Apply, s.Patch, s.Delete} {
		if object != nil {
			return &unstructured.Unstructured{Object: object}
		}
	}
	return &unstructured.Unstructured{}
}

// named names the object of a request; nil if its kind is not known.
func (d *data) named(at prove.Point) map[string]any {
	for kind, place := range d.Kinds {
		if kind.Group == at.Group && place.Resource == at.Resource {
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(kind.WithVersion(place.Version))
			o.SetNamespace(at.Namespace)
			o.SetName(at.Name)
			return o.Object
		}
	}
	return nil
}

// placed is an object in the namespace in which prove has it.
func (d *data) placed(object map[string]any) map[string]any {
	o := (&unstructured.Unstructured{Object: object}).DeepCopy()
	if d.Kinds[o.GroupVersionKind().GroupKind()].Namespaced && o.GetNamespace() == "" {
		o.SetNamespace("default")
	}
	return o.Object
}

// identity is the text of what names an object.
func (d *data) identity(object map[string]any) string {
	o := &unstructured.Unstructured{Object: d.placed(object)}
	text := fmt.Sprintf(`{apiVersion: %s, kind: %s, metadata: {`, strconv.Quote(o.GetAPIVersion()), strconv.Quote(o.GetKind()))
	if o.GetNamespace() != "" {
		text += "namespace: " + strconv.Quote(o.GetNamespace()) + ", "
	}
	return literal(text + "name: " + strconv.Quote(o.GetName()) + "}}")
}

// literal is a text as a Go expression: raw where that is possible.
func literal(text string) string {
	if strconv.CanBackquote(strings.ReplaceAll(text, "\n", "")) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

// comment is a text for one line of a comment.
func comment(text string) string {
	return ansi.Plain(strings.Join(strings.Fields(text), " "))
}

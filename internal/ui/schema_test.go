package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/slipway-dev/slipway/internal/report"
)

// schemaFile is the published schema of the lines that --output json writes.
const schemaFile = "../../docs/reference/events.schema.json"

// examples are all kinds of events, with all keys and with as few as possible.
var examples = []report.Event{
	report.Step{Name: "building", Elapsed: time.Second}, report.Step{},
	report.Progress{Name: "building", Done: 1, Total: 2, Elapsed: time.Second, Left: time.Second}, report.Progress{},
	report.File{Path: "b", Action: report.Moved, From: "a", Why: "so"}, report.File{Action: report.Kept},
	report.Object{Name: "crd/x", Action: report.Created, Why: "so"}, report.Object{Action: report.Deleted},
	report.Note{Text: "n"}, report.Note{},
	report.Warning{Text: "w"}, report.Warning{},
	report.Finding{Position: report.Position{File: "f", Line: 1, Column: 2}, Message: "m", Suggestion: "s", Fatal: true}, report.Finding{},
	report.Result{Value: map[string]int{"a": 1}}, report.Result{},
}

// TestSchema: the published schema is that of today's events; -update writes it.
func TestSchema(t *testing.T) {
	got, err := json.MarshalIndent(eventSchema(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-published +events; -update accepts it):\n%s", schemaFile, diff)
	}
}

// TestLinesFollowSchema: what is written is valid by the published schema.
func TestLinesFollowSchema(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	h := NewJSON(&out)
	for _, e := range examples {
		h.Handle(e)
	}
	Fail(h, &report.Error{What: "w", Where: "--x", Hint: "h", Next: "n", Err: errors.New("why")})
	Fail(h, &report.Error{})
	lines := 0
	for dec := json.NewDecoder(&out); dec.More(); lines++ {
		var line any
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(line); err != nil {
			t.Errorf("%v: %v", line, err)
		}
	}
	if want := len(examples) + 2; lines != want {
		t.Errorf("%d lines, want %d", lines, want)
	}
	for _, wrong := range []any{
		map[string]any{"event": "nope"},
		map[string]any{"event": "note"},
		map[string]any{"event": "file", "path": "p", "action": "eaten"},
		map[string]any{"event": "step", "name": "n", "elapsedNanoseconds": "1s"},
	} {
		if resolved.Validate(wrong) == nil {
			t.Errorf("%v is valid", wrong)
		}
	}
}

// TestExamplesAreComplete: there is an example of each event that package report has.
func TestExamplesAreComplete(t *testing.T) {
	have := map[string]bool{}
	for _, e := range examples {
		have[reflect.TypeOf(e).Name()] = true
	}
	files, err := filepath.Glob("../report/*.go")
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "event" {
				continue
			}
			events++
			if name := f.Recv.List[0].Type.(*ast.Ident).Name; !have[name] {
				t.Errorf("report.%s has no example, and so is not in the schema", name)
			}
		}
	}
	if events == 0 {
		t.Error("no events were found")
	}
}

// eventSchema makes the schema of a line from the types of events.
func eventSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema",
		Title:  "A line that slipway --output json writes",
		Description: "One JSON object a line. The key event says which kind of event it is; the others depend on it. " +
			"The last line of a command that fails is an error, whose code is the exit code. Later versions may add keys and kinds of events.",
	}
	values := []any{}
	for i := 0; i < len(examples); i += 2 {
		values = append(values, examples[i])
	}
	for _, value := range append(values, failure{}) {
		kind := "error"
		if e, ok := value.(report.Event); ok {
			kind = kindOf(e)
		}
		schema.OneOf = append(schema.OneOf, lineSchema(t, kind, reflect.TypeOf(value)))
	}
	return schema
}

// lineSchema is the schema of a line of one kind.
func lineSchema(t *testing.T, kind string, of reflect.Type) *jsonschema.Schema {
	t.Helper()
	actions := &jsonschema.Schema{Enum: []any{report.Created, report.Updated, report.Unchanged, report.Deleted, report.Moved, report.Kept}}
	s, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[report.Action](): actions}})
	if err != nil {
		t.Fatal(err)
	}
	var name any = kind
	s.AdditionalProperties = nil // later versions may add keys
	s.Properties["event"] = &jsonschema.Schema{Const: &name}
	s.PropertyOrder = append([]string{"event"}, s.PropertyOrder...)
	s.Required = append([]string{"event"}, s.Required...)
	return s
}

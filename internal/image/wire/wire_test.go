package wire_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/image/wire"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestForm: the form of requests and events changes with [wire.Protocol] only, since the program may be of another
// version.
func TestForm(t *testing.T) {
	if wire.Protocol != 1 {
		t.Fatal("another protocol: write down its form here")
	}
	for _, test := range []struct {
		value any
		want  string
	}{
		{wire.Request{Protocol: 1, Store: "/s", List: &wire.List{}}, `{"protocol":1,"store":"/s","list":{}}`},
		{
			wire.Request{Protocol: 1, Store: "/s", Build: &wire.Build{Tag: "op:v1", Dir: "/d", Platforms: []string{"linux/arm64"}, BuildArgs: map[string]string{"A": "1"}}},
			`{"protocol":1,"store":"/s","build":{"tag":"op:v1","dir":"/d","platforms":["linux/arm64"],"buildArgs":{"A":"1"}}}`,
		},
		{wire.Request{Push: &wire.Push{Ref: "op:v1", Account: &wire.Account{User: "u", Password: "p"}}}, `{"protocol":0,"store":"","push":{"ref":"op:v1","account":{"user":"u","password":"p"}}}`},
		{wire.Event{Protocol: 1}, `{"protocol":1}`},
		{wire.Event{Step: &report.Step{Name: "a", Elapsed: time.Second}}, `{"step":{"name":"a","elapsedNanoseconds":1000000000}}`},
		{wire.Event{Result: json.RawMessage(`{"name":"op:v1"}`)}, `{"result":{"name":"op:v1"}}`},
		{wire.Event{Failure: &wire.Failure{What: "a", Code: 2}}, `{"failure":{"what":"a","code":2}}`},
	} {
		got, err := json.Marshal(test.value)
		if err != nil || string(got) != test.want {
			t.Errorf("got %s, %v, want %s", got, err, test.want)
		}
	}
}

// TestFailure: an error arrives with all that its user is told.
func TestFailure(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want *report.Error
	}{
		{"a report", &report.Error{What: "a", Where: "b", Hint: "c", Next: "d", Code: 3}, &report.Error{What: "a", Where: "b", Hint: "c", Next: "d", Code: 3}},
		{"a flag", &report.Error{What: "a", Where: "--format"}, &report.Error{What: "a", Where: "--format", Code: 2}},
		{"of the code", &report.Error{What: "a", Err: wire.CompileError{Why: "b"}}, &report.Error{What: "a", Err: wire.CompileError{Why: "b"}, Code: 1}},
		{"any other", fs.ErrPermission, &report.Error{What: "permission denied", Code: 1}},
	} {
		if diff := cmp.Diff(test.want, wire.Fail(test.err).Error()); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	got := wire.Fail(errors.Join(&report.Error{What: "a", Err: fs.ErrPermission})).Error()
	if got.Err == nil || got.Err.Error() != "permission denied" {
		t.Errorf("the cause arrives as %v", got.Err)
	}
}

package crdcheck_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/report"
)

// script is a program in the place of the checker that counts its runs beside itself, and the environment that names
// it.
func script(t *testing.T, text string) (path string, getenv func(string) string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	path = filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"$1\" >>\"$0.runs\"\ncat >\"$0.in\"\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"SLIPWAY_CHECK": path, "SLIPWAY_CACHE": t.TempDir()}
	return path, func(key string) string { return env[key] }
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const answer = `echo '{"protocol":3,"findings":[{"file":"a.yaml","definition":"d","path":"p","value":"v","message":"m","refused":true}]}'`

// TestCheckRemembers asks about a content once, whatever its file is called, and only about what is new.
func TestCheckRemembers(t *testing.T) {
	path, getenv := script(t, answer)
	a, b := crdcheck.File{Name: "a.yaml", Content: "1"}, crdcheck.File{Name: "b.yaml", Content: "2"}
	check := func(files ...crdcheck.File) []crdcheck.Finding {
		t.Helper()
		findings, err := crdcheck.New(getenv, report.Discard).Check(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		return findings
	}
	finding := crdcheck.Finding{File: "a.yaml", Definition: "d", Path: "p", Value: "v", Message: "m", Refused: true}
	if d := cmp.Diff([]crdcheck.Finding{finding}, check(a)); d != "" {
		t.Error(d)
	}
	if got := read(t, path+".in"); got != `{"files":[{"name":"a.yaml","content":"1"}]}` {
		t.Errorf("asked %s", got)
	}
	check(a, b)
	if got := read(t, path+".in"); got != `{"files":[{"name":"b.yaml","content":"2"}]}` {
		t.Errorf("asked %s", got)
	}
	a.Name, finding.File = "moved.yaml", "moved.yaml"
	if d := cmp.Diff([]crdcheck.Finding{finding}, check(b, a)); d != "" {
		t.Error(d)
	}
	if got := read(t, path+".runs"); got != "check\ncheck\n" {
		t.Errorf("ran %q", got)
	}
}

// TestAnotherProgramIsAskedAgain: what one state of the program said is not what another one says.
func TestAnotherProgramIsAskedAgain(t *testing.T) {
	path, getenv := script(t, answer)
	files := []crdcheck.File{{Name: "a.yaml", Content: "1"}}
	for _, more := range []string{"", "\n# another state\n"} {
		text := read(t, path)
		if err := os.WriteFile(path, []byte(text+more), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := crdcheck.New(getenv, report.Discard).Check(t.Context(), files); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, path+".runs"); got != "check\ncheck\n" {
		t.Errorf("ran %q", got)
	}
}

// TestProgramFails: its user is told which program, what it said, and what to do; nothing is remembered.
func TestProgramFails(t *testing.T) {
	for name, c := range map[string]struct{ text, what, hint string }{
		"dies":           {"echo oh no >&2; exit 3", "the checker of CRDs failed", "oh no"},
		"no answer":      {"echo no JSON", "the answer of the checker of CRDs is invalid", ""},
		"older protocol": {`echo '{"protocol":1}'`, "the checker of CRDs has another version", "unset SLIPWAY_CHECK"},
		"newer protocol": {`echo '{"protocol":99}'`, "the checker of CRDs has another version", "unset SLIPWAY_CHECK"},
	} {
		t.Run(name, func(t *testing.T) {
			path, getenv := script(t, c.text)
			for range 2 {
				_, err := crdcheck.New(getenv, report.Discard).Check(t.Context(), []crdcheck.File{{Name: "a.yaml"}})
				told, ok := errors.AsType[*report.Error](err)
				if !ok || told.What != c.what || told.Where != path || !strings.Contains(told.Hint, c.hint) {
					t.Fatalf("got %v", err)
				}
			}
			if got := read(t, path+".runs"); got != "check\ncheck\n" {
				t.Errorf("ran %q", got)
			}
		})
	}
}

// TestInterrupted: an interrupt is no verdict.
func TestInterrupted(t *testing.T) {
	_, getenv := script(t, answer)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := crdcheck.New(getenv, report.Discard).Check(ctx, []crdcheck.File{{Name: "a.yaml"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestNamedProgram: what the user named is used or refused, and never taken for one that does not exist.
func TestNamedProgram(t *testing.T) {
	env := map[string]string{"SLIPWAY_CHECK": filepath.Join(t.TempDir(), "absent"), "SLIPWAY_CACHE": t.TempDir()}
	_, err := crdcheck.New(func(key string) string { return env[key] }, report.Discard).Check(t.Context(), []crdcheck.File{{Name: "a.yaml"}})
	told, ok := errors.AsType[*report.Error](err)
	if !ok || told.What != "SLIPWAY_CHECK does not name a program" || errors.Is(err, crdcheck.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// TestCompareOff: off is no program, and a comparison cannot do without one.
func TestCompareOff(t *testing.T) {
	off := func(key string) string { return map[string]string{"SLIPWAY_CHECK": "off"}[key] }
	_, err := crdcheck.New(off, report.Discard).Compare(t.Context(), nil, nil)
	if told, ok := errors.AsType[*report.Error](err); !ok || told.Where != "SLIPWAY_CHECK=off" || told.Hint != "unset SLIPWAY_CHECK" {
		t.Errorf("got %v", err)
	}
}

// TestPlace: paths are shown as users see their objects.
func TestPlace(t *testing.T) {
	for path, want := range map[string]string{
		"spec.group": "spec.group",
		"spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[parts].items.properties[name].maxLength": "spec.parts[].name maxLength",
		"spec.versions[0].schema.openAPIV3Schema.properties[spec].additionalProperties.default":                       "spec{} default",
		"spec.versions[0].schema.openAPIV3Schema.x-kubernetes-validations[0].rule":                                    "x-kubernetes-validations[0].rule",
	} {
		if got := crdcheck.Place(path); got != want {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
	}
}

// TestAdvice: what to do is said in terms of markers.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		f    crdcheck.Finding
		want string
	}{
		{crdcheck.Finding{Path: "a.uniqueItems"}, "+listType=set"},
		{crdcheck.Finding{Path: "a.properties[k].default", Reason: crdcheck.AbsentKey}, "make the key required"},
		{crdcheck.Finding{Path: "a.properties[k].default"}, "values and fields that the field allows"},
		{crdcheck.Finding{Path: "a.x-kubernetes-validations[0].rule", Reason: crdcheck.RuleCost}, "the rule reads"},
		{crdcheck.Finding{Path: "spec.versions[0].schema.openAPIV3Schema", Reason: crdcheck.RuleCostSum}, "+kubebuilder:validation:MaxItems"},
		{crdcheck.Finding{Path: "a.x-kubernetes-list-type", Reason: crdcheck.StructuredSet}, "use +listType=map"},
		{crdcheck.Finding{Path: "a.x-kubernetes-list-type", Message: `supported values: "atomic", "set"`}, "+listType=set for scalars"},
		{crdcheck.Finding{Path: "", Reason: crdcheck.TooLargeToApply}, "--server-side"},
		{crdcheck.Finding{Path: "spec.scope", Message: "odd: the cost exceeds budget"}, ""},
	} {
		if got := c.f.Advice(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c.f, got)
		}
	}
}

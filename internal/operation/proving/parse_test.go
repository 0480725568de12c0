package proving

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// stepWith is a scenario with a step and more keys of it, from line 6.
func stepWith(more string) string {
	return "steps:\n- apply:\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: one}\n" + more
}

// TestParseMistakes: each mistake has its line and the reason.
func TestParseMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "it has no steps",
		"steps: []":                          "it has no steps",
		"stepps: []":                         "line 1: field stepps not found",
		"steps:\n- aply: {}":                 "line 2: field aply not found",
		"steps:\n- name: nothing\n":          "line 2: a step has one of",
		"steps: [{delete: {kind: Service}}]": "line 1: an object has apiVersion",
		"steps: {":                           "line 1",
		"patience: 2\n" + stepWith(""):       "line 1: cannot unmarshal !!int `2` into a duration such as 2s",
		"patience: long\n" + stepWith(""):    "line 1: cannot unmarshal !!str `long` into a duration such as 2s",
		stepWith("---\nsteps: []\n"):         "it has a second document",
		stepWith("  patience: 1h"):           "line 6: patience is a duration",
		stepWith("  until: object."):         "line 6: until: column 8 of the expression: Syntax error",
		stepWith("  until: objekt == 1"):     "line 6: until: column 1 of the expression: undeclared reference to 'objekt'",
		stepWith("invariants:\n- {name: a}"): "line 7: an invariant has a name",
		stepWith("invariants:\n- {name: a, that: 'true'}\n- {name: a, that: 'true'}"): "line 8: an invariant has a name",
		stepWith("invariants:\n- name: a\n  that: size(objects)"):                     "line 8: that: its value is of the type int",
		stepWith("invariants:\n- name: a\n  that: object == null"):                    "line 8: that: column 1 of the expression: undeclared reference to 'object'",
		stepWith("invariants:\n" + strings.Repeat("- {}\n", maxInvariants+1)):         "line 7: it has 51 invariants; 50 are allowed",
		"steps:\n- exec: []": "line 2: exec is a list of words",
		"steps:\n- exec: ls": "line 2: cannot unmarshal !!str `ls` into []string",
		"steps:\n- scale: {kind: Deployment, metadata: {name: a}, replicas: 1}":                                    "line 2: an object has apiVersion",
		"steps:\n- scale: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}":                            "line 2: scale has replicas",
		"steps:\n- scale:\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: a, labels: {}}":     "line 5: field labels not found",
		"steps:\n- exec: [ls]\n  scale: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, replicas: 3}": "line 2: a step has one of",
		stepWith("services:\n- {name: Db, command: [a]}"):                                                          "line 7: a service has a name",
		stepWith("services:\n- {name: db, command: [a]}\n- {name: db, command: [a]}"):                              "line 8: a service has a name",
		stepWith("services:\n- {name: db, command: []}"):                                                           "line 7: a service has a name",
		stepWith("services:\n- {name: db, command: [a]}\nenv:\n  URL: http://localhost:{bd.port}/"):                "line 9: {bd.port}: there is no service bd",
		stepWith("services:\n- name: db\n  command: [a, '{x.port}']"):                                              "line 8: {x.port}: there is no service x",
		stepWith("command: [a, '{db.port}', '{kubeconfig}']"):                                                      "line 6: {db.port}: there is no service db",
		stepWith("env: {A=B: c}"): "line 6: env has names",
		stepWith("services:\n" + strings.Repeat("- {}\n", maxServices+1)):                           "line 7: it has 11 services; 10 are allowed",
		stepWith("operators: [{name: a, command: [a]}]"):                                            "line 6: operators are 2 to 5",
		stepWith("command: [a]\noperators: [{name: a, command: [a]}, {name: b, command: [b]}]"):     "line 7: operators are 2 to 5",
		stepWith("operators:\n- {name: a, command: [a]}\n- {name: a, command: [b]}"):                "line 8: an operator has a name",
		stepWith("operators:\n- {name: a, command: [a]}\n- {name: b, command: ['{c.port}']}"):       "line 8: {c.port}: there is no service c",
		stepWith("operators:\n- {name: a, command: [a]}\n- {name: b, command: [b], env: {A-B: c}}"): "line 8: env has names",
		stepWith("  until: [a]"):                                                                    "line 6: until: it is an expression, or has the key condition",
		stepWith("  until: {conditions: R}"):                                                        "line 6: until: it is an expression, or has the key condition",
		stepWith("  until: {condition: {name: R}}"):                                                 "line 6: until: it is an expression, or has the key condition",
		stepWith("  delete: {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}"):              "line 2: a step has one of",
		"steps:\n" + strings.Repeat("- delete: {}\n", maxSteps+1):                                   fmt.Sprintf("line 2: it has %d steps; %d are allowed", maxSteps+1, maxSteps),
		"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nsteps: [{name: *b}]\n": "line",
	} {
		if _, _, err := parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.200s\n%v, want %s", text, err, want)
		}
	}
}

// TestParseStep: what a step waits for is understood in each form.
func TestParseStep(t *testing.T) {
	ready := func(status string, observed, generation int) map[string]any {
		return map[string]any{"metadata": map[string]any{"generation": float64(generation)}, "status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": status, "observedGeneration": float64(observed)}}}}
	}
	for until, cases := range map[string]map[string]map[string]any{
		"object.status.conditions.size() == 1": {"true": ready("False", 1, 1)},
		"{condition: Ready}": {"true": ready("True", 2, 2), "false": ready("False", 2, 2), "false older": ready("True", 1, 2), "false gone": nil,
			"false empty": {"metadata": map[string]any{}}},
		"{condition: {type: Ready, status: 'False'}}": {"true": ready("False", 2, 2), "false": ready("True", 2, 2)},
		"object == null": {"true": nil},
	} {
		_, scenario, err := parse([]byte("patience: 3s\n" + stepWith("  patience: 2s\n  until: "+until)))
		if err != nil {
			t.Errorf("%s: %v", until, err)
			continue
		}
		s := scenario.Steps[0]
		if s.Patience != 2*time.Second || scenario.Patience != 3*time.Second || s.Apply["kind"] != "ConfigMap" {
			t.Errorf("%+v", s)
		}
		for want, object := range cases {
			if got, err := s.Until.Holds(map[string]any{"object": object, "objects": nil}); got != strings.HasPrefix(want, "true") || err != nil {
				t.Errorf("%s of %v: %v, %v", until, object, got, err)
			}
		}
	}
}

// FuzzParse: a hostile scenario is refused or understood, and does no harm.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		stepWith("  until: {condition: Ready}\n  patience: 2s\n"),
		stepWith("  until: object.status.phase == 'x'\nignore: [{kind: A, name: b/*, fields: [c]}]\n"),
		"a: &a [*a]\nsteps: [{apply: &b {apiVersion: v1, kind: A, metadata: {name: a}, <<: *b}}]",
		"command: [a]\nserviceAccount: a/b\ninstall: [c]\nsteps: [{until: &a {condition: *a}, delete: {apiVersion: v1, kind: A, metadata: {name: a}}}]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, scenario, err := parse(text)
		if err == nil && len(scenario.Steps) == 0 {
			t.Error("a scenario without steps is accepted")
		}
		for _, s := range scenario.Steps {
			_ = s.String()
		}
	})
}

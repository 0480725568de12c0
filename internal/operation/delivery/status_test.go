package delivery

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

var update = flag.Bool("update", false, "write the published schema")

// TestStatusSchema: the published schema is that of today's result.
func TestStatusSchema(t *testing.T) {
	checkSchema(t, "status", OperatorState{}, fullState())
}

// TestExplainSchema does the same for explain.
func TestExplainSchema(t *testing.T) {
	checkSchema(t, "explain", explain.Answer{}, fullAnswer())
	checkSchema(t, "explain requests", explain.Refused{}, explain.Refused{Requests: []explain.RefusedRequest{{User: "op", Verb: "get"}}})
	checkSchema(t, "explain reconciles", explain.Work{}, fullWork())
}

// checkSchema compares the published schema of a verb's result with that of its type, which values have to fit; -update
// writes it.
func checkSchema[T any](t *testing.T, verb string, values ...T) {
	t.Helper()
	file := "../../../docs/reference/" + strings.ReplaceAll(verb, " ", "-") + ".schema.json"
	schema, err := jsonschema.ForType(reflect.TypeFor[T](), &jsonschema.ForOptions{})
	if err != nil {
		t.Fatal(err)
	}
	schema.Schema, schema.Title, schema.AdditionalProperties = "https://json-schema.org/draft/2020-12/schema", "The result of slipway "+verb+" --output json", nil
	schema.Description = "Later versions may add keys: ignore those that you do not know."
	got, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-published +result; -update accepts it):\n%s", file, diff)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range values {
		var value any
		if text, err := json.Marshal(each); err != nil || json.Unmarshal(text, &value) != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); err != nil {
			t.Error(err)
		}
	}
}

// fullState has something of everything, with text that is hostile to terminals.
func fullState() OperatorState {
	end := time.Now().Add(90*24*time.Hour + time.Hour)
	ref := func(kind, name string) report.ObjectRef {
		return report.ObjectRef{Kind: kind, Namespace: "ns", Name: name}
	}
	state := OperatorState{Project: "shop", Namespace: "ns", State: ship.State{
		Workloads:    []ship.WorkloadState{{Object: ref("Deployment", "manager"), Version: "v1", Images: []string{"shop:v1"}, Replicas: 2, Ready: 1, Simulated: true}},
		Leaders:      []ship.LeaderState{{Lease: ref("Lease", "l"), Holder: "manager-1", Renewed: time.Now(), Expired: true}},
		Webhooks:     []ship.WebhookState{{Object: ref("ValidatingWebhookConfiguration", "v"), Service: "ns/s:443", Pods: []string{"p"}, Answers: true}, {URL: "https://127.0.0.1:1"}, {Service: "ns/t:443", Problem: "no pod"}},
		Certificates: []ship.CertificateState{{Secret: ref("Secret", "cert"), NotAfter: &end}, {Secret: ref("Secret", "bad"), Problem: "invalid"}},
		Definitions:  []ship.DefinitionState{{Name: "orders.example.com", Storage: "v2", Stored: []string{"v1", "v2"}, Established: true, Objects: 12, NotReady: 9, Stuck: 1}},
		Stuck:        []ship.StuckObject{{Object: ref("Order", "old"), Since: time.Now().Add(-time.Hour), Finalizers: []string{"example.com/hold"}}},
		Unknown:      []string{"secret/ns/other: the user of the kubeconfig may not read it"},
	}}
	for range 9 {
		state.NotReady = append(state.NotReady, report.Unready{Object: ref("Order", "first"), Pod: "p", Container: "c", Reason: "NoStock", Message: "\x1b[31mred\nline\x07"})
	}
	return state
}

// TestStatusText: the text has a row for each fact, fits on a screen and has no controls.
func TestStatusText(t *testing.T) {
	text := fullState().text()
	for _, want := range []string{
		"operator", "in namespace ns", "1 of 2 ready, shop:v1, on simulated pods", "renewed 0s ago, expired", "service ns/s:443 answers, 1 pod", "the manager at https://127.0.0.1:1",
		"service ns/t:443: no pod", ", 90 days", "stored as v1, v2, 12 objects, 9 not ready, 1 stuck in deletion", "NoStock of pod p/c: ", "waits for the finalizers example.com/hold",
		"and 1 more", "unknown",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\x07") || strings.Count(text, "\n") > 30 {
		t.Errorf("the text has controls, or does not fit on a screen:\n%q", text)
	}
}

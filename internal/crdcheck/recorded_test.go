package crdcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"
)

// recorded is a line of a recording, see docs/inside/protocol.md.
type recorded struct {
	Command []string        `json:"command,omitempty"`
	Client  json.RawMessage `json:"client,omitempty"`
	Program json.RawMessage `json:"program,omitempty"`
}

// TestRecording: what is asked and answered in the recording of slipway-check is what this package asks and
// understands, each word of it.
func TestRecording(t *testing.T) {
	text, err := os.ReadFile("../../docs/inside/protocol/check.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var findings, changes int
	for line := range bytes.Lines(text) {
		said := again[recorded](t, line)
		if said.Client != nil {
			again[question](t, said.Client)
		}
		if said.Program != nil {
			a := again[answer](t, said.Program)
			findings, changes = findings+len(a.Findings), changes+len(a.Changes)
			if a.Protocol != Protocol {
				t.Errorf("recorded is protocol %d, this package speaks %d", a.Protocol, Protocol)
			}
		}
	}
	if findings == 0 || changes == 0 {
		t.Errorf("the recording has %d findings and %d changes", findings, changes)
	}
}

// again decodes a text into a T, which has to know all of its keys, and wants the T to say the same.
func again[T any](t *testing.T, text []byte) (value T) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	said, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := errors.Join(json.Unmarshal(text, &want), json.Unmarshal(said, &got)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%T says\n%s\nof\n%s", value, said, text)
	}
	return value
}

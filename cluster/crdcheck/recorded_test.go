package crdcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	stdflag "flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recording has questions, which are written by hand, and what the program answers.
const recording = "../../docs/inside/protocol/check.jsonl"

// recorded is a line of a recording, see docs/inside/protocol.md.
type recorded struct {
	Command []string        `json:"command,omitempty"`
	Client  json.RawMessage `json:"client,omitempty"`
	Program json.RawMessage `json:"program,omitempty"`
}

// TestRecording: the program answers as it is recorded, and its types have each word; -update records it.
func TestRecording(t *testing.T) {
	want, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	got := record(t, want)
	if stdflag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(recording, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-recorded +now:\n%s", diff)
	}
}

// record asks what is asked in a recording, and returns all that is said.
func record(t *testing.T, recording []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	note := func(line recorded) {
		if err := encoder.Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	var command []string
	for line := range bytes.Lines(recording) {
		said := again[recorded](t, line)
		switch {
		case said.Command != nil:
			command = said.Command
			note(said)
			if command[0] == "version" {
				note(recorded{Program: serve(t, command, nil)})
			}
		case said.Client != nil:
			again[question](t, said.Client)
			note(said)
			note(recorded{Program: serve(t, command, said.Client)})
		}
	}
	return out.Bytes()
}

// serve is the program's answer, without its version of Kubernetes.
func serve(t *testing.T, args []string, asked []byte) json.RawMessage {
	t.Helper()
	var out bytes.Buffer
	if err := Serve(t.Context(), args, bytes.NewReader(asked), &out); err != nil {
		t.Fatal(err)
	}
	again[answer](t, out.Bytes())
	return json.RawMessage(strings.Replace(out.String(), `"kubernetes":"`+Kubernetes, `"kubernetes":"1.0.0`, 1))
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

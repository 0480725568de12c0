package protocol_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// recordings are what the program and a client said to each other: docs/inside/protocol.md tells how they are made.
const recordings = "../../docs/inside/protocol"

// recorded is a line of a recording.
type recorded struct {
	Config  json.RawMessage `json:"config,omitempty"`  // what the program is started with
	Command []string        `json:"command,omitempty"` // or its arguments, where it only prints
	Object  json.RawMessage `json:"object,omitempty"`  // what is created in the cluster meanwhile
	Client  json.RawMessage `json:"client,omitempty"`
	Program json.RawMessage `json:"program,omitempty"`
}

// recordedLines are the lines of a recording.
func recordedLines(t *testing.T, name string) []recorded {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(recordings, name))
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for line := range bytes.Lines(text) {
		all = append(all, again[recorded](t, line))
	}
	return all
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

// as is [again] for a T that nothing is asked of but to know all.
func as[T any](t *testing.T, text []byte) {
	t.Helper()
	again[T](t, text)
}

// spoken are the requests that this package makes: what their parameters and results are.
var spoken = map[string]struct{ params, result func(*testing.T, []byte) }{
	"status":    {as[struct{}], as[protocol.Status]},
	"stop":      {as[struct{}], as[struct{}]},
	"reset":     {as[protocol.Reset], as[protocol.ResetDone]},
	"keep":      {as[protocol.Keep], as[protocol.KeepDone]},
	"prune":     {as[protocol.Prune], as[protocol.PruneDone]},
	"stopNode":  {as[protocol.NodeOf], as[struct{}]},
	"startNode": {as[protocol.NodeOf], as[struct{}]},
	"joinNode":  {as[protocol.JoinNode], as[protocol.NodeJoined]},
	"openDoor":  {as[protocol.OpenDoor], as[protocol.DoorOpened]},
	"closeDoor": {as[protocol.CloseDoor], as[struct{}]},

	"addLogical":     {as[protocol.AddLogical], as[protocol.LogicalAdded]},
	"armDoor":        {as[protocol.ArmDoor], as[struct{}]},
	"disarmDoor":     {as[protocol.DisarmDoor], as[protocol.Disarmed]},
	"activateDoor":   {as[protocol.ActivateDoor], as[struct{}]},
	"holdWatches":    {as[protocol.WatchesOf], as[struct{}]},
	"releaseWatches": {as[protocol.WatchesOf], as[struct{}]},
	"cutWatches":     {as[protocol.WatchesOf], as[struct{}]},
	"resumeDoor":     {as[protocol.ResumeDoor], as[struct{}]},
	"muteEvents":     {as[protocol.MuteEvents], as[struct{}]},
	"followChanges":  {as[protocol.FollowChanges], as[struct{}]},
	"record":         {as[protocol.RecordQuery], as[protocol.RecordPage]},
	"followRecord":   {as[protocol.RecordQuery], as[struct{}]},
	"recordLines":    {as[protocol.RecordLines], as[struct{}]},
}

// unspoken are the requests that others make.
var unspoken = []string{"removeLogical"}

// TestRecordings: the command understands each word of every recording, and would say it in the same way.
func TestRecordings(t *testing.T) {
	for _, name := range []string{"failed.jsonl", "session.jsonl", "joined.jsonl", "plain.jsonl"} {
		var asked protocol.Request
		for _, line := range recordedLines(t, name) {
			switch {
			case line.Config != nil:
				as[protocol.Config](t, line.Config)
			case line.Object != nil, bytes.HasPrefix(line.Client, []byte(`"`)): // no request
			case line.Client != nil:
				asked = again[protocol.Request](t, line.Client)
			case bytes.Contains(line.Program, []byte(`"serial":`)):
				as[protocol.Report](t, line.Program)
			default:
				event := again[protocol.Event](t, line.Program)
				if event.Name == protocol.EventReply && event.Error == "" {
					checkReply(t, asked, event)
				}
			}
		}
	}
}

// checkReply checks what a fulfilled request asked for and got.
func checkReply(t *testing.T, asked protocol.Request, reply protocol.Event) {
	t.Helper()
	if *reply.ID != asked.ID {
		t.Fatalf("a reply to %d after the request %d", *reply.ID, asked.ID)
	}
	words, ok := spoken[asked.Method]
	if !ok {
		if !slices.Contains(unspoken, asked.Method) {
			t.Errorf("%s is a request that is neither spoken nor left to others", asked.Method)
		}
		return
	}
	if asked.Params != nil {
		words.params(t, asked.Params)
	}
	words.result(t, reply.Result)
}

func TestRecordedVersion(t *testing.T) {
	for _, line := range recordedLines(t, "version.jsonl") {
		if line.Program != nil {
			as[protocol.Version](t, line.Program)
		}
	}
}

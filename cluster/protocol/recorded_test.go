package protocol_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/slipway-dev/slipway/cluster/protocol"
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

// requests are all methods: what their parameters and results are.
var requests = map[string]struct{ params, result func(*testing.T, []byte) }{
	"status":         {as[struct{}], as[protocol.Status]},
	"stop":           {as[struct{}], as[protocol.Empty]},
	"reset":          {as[protocol.Reset], as[protocol.ResetDone]},
	"keep":           {as[protocol.Keep], as[protocol.KeepDone]},
	"prune":          {as[protocol.Prune], as[protocol.PruneDone]},
	"stopNode":       {as[protocol.NodeOf], as[protocol.Empty]},
	"startNode":      {as[protocol.NodeOf], as[protocol.Empty]},
	"joinNode":       {as[protocol.JoinNode], as[protocol.NodeJoined]},
	"addLogical":     {as[protocol.AddLogical], as[protocol.LogicalAdded]},
	"removeLogical":  {as[protocol.RemoveLogical], as[protocol.Empty]},
	"openDoor":       {as[protocol.OpenDoor], as[protocol.DoorOpened]},
	"closeDoor":      {as[protocol.CloseDoor], as[protocol.Empty]},
	"armDoor":        {as[protocol.ArmDoor], as[protocol.Empty]},
	"disarmDoor":     {as[protocol.DisarmDoor], as[protocol.Disarmed]},
	"activateDoor":   {as[protocol.ActivateDoor], as[protocol.Empty]},
	"resumeDoor":     {as[protocol.ResumeDoor], as[protocol.Empty]},
	"holdWatches":    {as[protocol.WatchesOf], as[protocol.Empty]},
	"releaseWatches": {as[protocol.WatchesOf], as[protocol.Empty]},
	"cutWatches":     {as[protocol.WatchesOf], as[protocol.Empty]},
	"muteEvents":     {as[protocol.MuteEvents], as[protocol.Empty]},
	"followChanges":  {as[protocol.FollowChanges], as[protocol.Empty]},
	"record":         {as[protocol.RecordQuery], as[protocol.RecordPage]},
	"followRecord":   {as[protocol.RecordQuery], as[protocol.Empty]},
	"recordLines":    {as[protocol.RecordLines], as[protocol.Empty]},
}

// events are all events but replies.
var events = map[string]func(t *testing.T, name string, body []byte){
	"hello": event[protocol.Hello], "progress": event[protocol.Progress], "note": event[protocol.Note],
	"ready": event[protocol.Ready], "failed": event[protocol.Failed], "stopped": event[protocol.Stopped],
	"request": event[protocol.DoorRequest], "begun": event[protocol.Begun], "struck": event[protocol.Struck],
	"delivered": event[protocol.Delivered], "changed": event[protocol.Changed],
	"recorded": event[protocol.Recorded],
}

// event reads what an event says besides its name, and wants the program to publish the same line.
func event[T protocol.Event](t *testing.T, name string, body []byte) {
	t.Helper()
	line, err := protocol.Encode(again[T](t, body))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := split(t, line); got != name {
		t.Errorf("%s is published as %s", name, got)
	}
}

// split takes the name of an event out of its line.
func split(t *testing.T, line []byte) (name string, body []byte) {
	t.Helper()
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(keys["event"], &name); err != nil {
		t.Fatal(err)
	}
	delete(keys, "event")
	body, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	return name, body
}

// TestRecordings: the program's types have each word of every recording, and say it in the same way.
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
			default:
				checkEvent(t, asked, line.Program)
			}
		}
	}
}

func checkEvent(t *testing.T, asked protocol.Request, line []byte) {
	t.Helper()
	name, body := split(t, line)
	if name != "reply" {
		if events[name] == nil {
			t.Fatalf("%s is no event", name)
		}
		events[name](t, name, body)
		return
	}
	reply := again[protocol.Reply](t, body)
	if reply.Error != "" {
		return
	}
	words, ok := requests[asked.Method]
	if !ok || reply.ID != asked.ID {
		t.Fatalf("a reply to %d after the request %d, %s", reply.ID, asked.ID, asked.Method)
	}
	if asked.Params != nil {
		words.params(t, asked.Params)
	}
	var result struct{ Result json.RawMessage }
	if err := json.Unmarshal(body, &result); err != nil {
		t.Fatal(err)
	}
	words.result(t, result.Result)
}

package protocol

import (
	"encoding/json"
	"fmt"
)

// An Event is one of [Hello], [Progress], [Note], [Ready], [Failed], [Stopped], [DoorRequest], [Begun], [Struck],
// [Delivered], [Changed] and [Recorded].
type Event interface{ event() string }

// Hello is the first event.
type Hello struct {
	Protocol   int    `json:"protocol"`
	Version    string `json:"version"`
	Kubernetes string `json:"kubernetes"`
	PID        int    `json:"pid"`
}

// Progress says that a component changed its state. ElapsedMs counts from the
// program's start.
type Progress struct {
	Component string `json:"component"`
	State     State  `json:"state"`
	ElapsedMs int64  `json:"elapsedMs"`
}

// Note reports users something about a component that they should know and need not do anything about.
type Note struct {
	Component string `json:"component"`
	Text      string `json:"text"`
}

// Ready says that the cluster can be used.
type Ready struct {
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
	Registry   string `json:"registry"` // host:port
	ElapsedMs  int64  `json:"elapsedMs"`
}

// Failed says why the program ends with status 1.
type Failed struct {
	Component string `json:"component"`
	Error     string `json:"error"`
	Hint      string `json:"hint,omitempty"`
}

// Reason is why a cluster stopped.
type Reason string

// The reasons of [Stopped].
const (
	ByRequest Reason = "request"
	ByStdin   Reason = "stdin"
	BySignal  Reason = "signal"
)

// Stopped is the last event.
type Stopped struct {
	Reason Reason `json:"reason"`
}

func (Hello) event() string    { return "hello" }
func (Progress) event() string { return "progress" }
func (Note) event() string     { return "note" }
func (Ready) event() string    { return "ready" }
func (Failed) event() string   { return "failed" }
func (Stopped) event() string  { return "stopped" }

// Encode is the event's line, with the line feed.
func Encode(e Event) ([]byte, error) { return line(e.event(), e) }

// line puts the key "event" in front of an object's own keys.
func line(name string, object any) ([]byte, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	out := fmt.Appendf(nil, `{"event":%q`, name)
	if len(body) > len("{}") {
		out = append(out, ',')
	}
	return append(append(out, body[1:]...), '\n'), nil
}

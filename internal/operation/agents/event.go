package agents

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	xansi "github.com/charmbracelet/x/ansi"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// An event is a line of a child's output: what --output json prints, or any other text as an event of the kind output.
type event map[string]any

// parse reads a line. Any program can print what looks like an event, so an event is data as all else is.
func parse(line string) event {
	var e event
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&e); err == nil && e.kind() != "" {
		if _, err := decoder.Token(); err == io.EOF {
			return e
		}
	}
	return event{"event": "output", "text": line}
}

func (e event) kind() string {
	kind, _ := e["event"].(string)
	return kind
}

func (e event) text(key string) string {
	text, _ := e[key].(string)
	return text
}

func (e event) number(key string) float64 {
	number, _ := e[key].(json.Number)
	value, _ := number.Float64() // 0 for what is no number
	return value
}

// passing reports whether an event is of no use once its command has ended.
func (e event) passing() bool { return e.kind() == "progress" || e.kind() == "step" }

// unroll returns an event for each object of a list, so that one line has one object.
func (e event) unroll() []event {
	list, _ := e["value"].(map[string]any)
	items, is := list["items"].([]any)
	if kind, _ := list["kind"].(string); !is || !strings.HasSuffix(kind, "List") {
		return []event{e}
	}
	events := make([]event, 0, len(items))
	for _, item := range items {
		events = append(events, event{"event": e["event"], "value": item})
	}
	return events
}

// A cleaner is what becomes of the content of a line before an agent sees it.
type cleaner struct{ hide func(text string) string }

// lines returns the JSON of the events in lines of output.
func (c cleaner) lines(raw []string) []string {
	var out []string
	for _, line := range raw {
		for _, e := range parse(line).unroll() {
			var b bytes.Buffer
			encoder := json.NewEncoder(&b)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(c.value(map[string]any(e))); err == nil { // it was JSON before
				out = append(out, strings.TrimSuffix(b.String(), "\n"))
			}
		}
	}
	return out
}

// value is a copy of a JSON value without escape sequences, values of Secrets, and what only fills an answer.
func (c cleaner) value(v any) any {
	switch v := v.(type) {
	case string:
		return c.text(v)
	case []any:
		list := slices.Clone(v)
		for i := range list {
			list[i] = c.value(list[i])
		}
		return list
	case map[string]any:
		return c.object(v)
	}
	return v
}

// lastApplied is the annotation in which kubectl keeps an object as it was applied, with all values of a Secret.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func (c cleaner) object(v map[string]any) map[string]any {
	object, secret := make(map[string]any, len(v)), isSecret(v)
	for key, value := range v {
		switch {
		case key == "managedFields", key == lastApplied:
			continue
		case secret && (key == "data" || key == "stringData"):
			object[key] = withoutValues(value)
		default:
			object[c.text(key)] = c.value(value)
		}
	}
	return object
}

func (c cleaner) text(text string) string { return c.hide(ansi.Plain(xansi.Strip(text))) }

// meaning is what an exit code means, in the words of the documentation.
func meaning(code int) string {
	switch code {
	case 0:
		return "done"
	case 1:
		return "failed"
	case report.UsageCode:
		return "it could not begin, and the error has the reason"
	}
	for _, c := range report.Classes() {
		if c.Code == code {
			return c.Meaning
		}
	}
	return "see the documentation of the command"
}

package devlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Parse takes a line apart. It never fails: a line in no known form is returned as it is.
func Parse(text string) Line {
	if len(text) > MaxLine {
		return Line{Message: strings.ToValidUTF8(text[:MaxLine], "") + fmt.Sprintf("… (%d more bytes)", len(text)-MaxLine)}
	}
	for _, parse := range []func(string) (Line, bool){parseJSON, parseConsole, parseKlog, parsePairs} {
		if l, ok := parse(text); ok {
			l.Structured = true
			if l.failed && l.Level == Unknown {
				l.Level = Error // logr's funcr writes levels for all others
			}
			l.tidy()
			return l
		}
	}
	return Line{Message: text}
}

// parseJSON reads an object with a message.
func parseJSON(text string) (l Line, ok bool) {
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") {
		return l, false
	}
	if l.object(text) != nil {
		return Line{}, false
	}
	return l, l.Message != "" || l.failed
}

// object takes over the keys of a JSON object, in their order.
func (l *Line) object(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		l.set(key.(string), value)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if d.More() {
		return errMore
	}
	return nil
}

// errMore is of a line that goes on after its object.
var errMore = fmt.Errorf("text after the object")

// set takes over one key. The names are those of zap, slog, funcr, klog and logrus.
func (l *Line) set(key string, value json.RawMessage) {
	text := valueText(value)
	switch key {
	case "ts", "time", "timestamp":
		if t, ok := parseTime(text); ok {
			l.Time, l.stamped = t, key == "ts"
			return
		}
	case "level":
		if level := jsonLevel(text); level != Unknown {
			l.Level, l.deep, l.small = level, isDeep(text), text == "debug"
			return
		}
	case "v": // klog's verbosity
		if level := jsonLevel(text); level != Unknown {
			l.Level = max(l.Level, level)
			return
		}
	case "msg", "message":
		l.Message = text
		return
	case "logger":
		l.Logger = text
		return
	case "caller":
		return
	case "source": // slog's; controller-runtime has a field of this name
		if bytes.HasPrefix(value, []byte(`{"function"`)) {
			return
		}
	case "controller":
		l.Controller = text
		return
	case "traceID", "trace_id":
		l.Trace = text
	case "reconcileID":
		l.Reconcile = text
		return
	case "error", "err":
		if l.failed = true; text != "null" {
			l.Error = text
		}
		return
	case "stacktrace", "stack":
		l.Stack = text
		return
	}
	l.Fields = append(l.Fields, Field{key, text})
}

// jsonLevel is the level of a name or of logr's number, which grows with verbosity.
func jsonLevel(text string) Level {
	switch n, err := strconv.Atoi(text); {
	case err != nil:
		return ParseLevel(text)
	case n > 0:
		return Debug
	}
	return Info
}

// parseTime reads RFC 3339, zap's ISO 8601, and seconds since 1970 or, as klog has them, milliseconds.
func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.000Z0700", "2006-01-02 15:04:05.000000"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0 && seconds < 1e14) {
		return time.Time{}, false
	}
	if seconds > 1e11 {
		seconds /= 1000
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), true
}

// valueText is a JSON value as a reader takes it: strings without quotes, references to objects as namespace/name.
func valueText(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil && string(value) != "null" {
		return s
	}
	if name, ok := reference(value); ok {
		return name
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}

// reference reads what controller-runtime logs for an object: {"name":"sample","namespace":"default"}.
func reference(value json.RawMessage) (string, bool) {
	if !bytes.HasPrefix(value, []byte("{")) {
		return "", false
	}
	var fields map[string]any
	if json.Unmarshal(value, &fields) != nil {
		return "", false
	}
	name, named := fields["name"].(string)
	namespace, spaced := fields["namespace"].(string)
	switch {
	case named && spaced && len(fields) == 2:
		return namespace + "/" + name, true
	case named && len(fields) == 1:
		return name, true
	}
	return "", false
}

// parseConsole reads zap's columns for development: time, level, logger, caller, message and a JSON object, between
// tabs. Logger, caller and object may be missing.
func parseConsole(text string) (l Line, ok bool) {
	columns := strings.Split(text, "\t")
	if len(columns) < 3 {
		return l, false
	}
	if l.Time, ok = parseTime(columns[0]); !ok {
		return l, false
	}
	level := withoutColor(columns[1])
	if l.Level = ParseLevel(level); l.Level == Unknown {
		return l, false
	}
	l.console, l.deep = true, isDeep(level)
	columns = columns[2:]
	if last := columns[len(columns)-1]; len(columns) > 1 && strings.HasPrefix(last, "{") {
		level := l.Level
		if l.object(last) == nil {
			columns = columns[:len(columns)-1]
		}
		l.Level = max(level, l.Level)
	}
	l.Message = columns[len(columns)-1]
	if len(columns) > 1 && !strings.Contains(columns[0], ".go:") {
		l.Logger = columns[0]
	}
	return l, true
}

// withoutColor is the word between two escape sequences, as zap colours levels.
func withoutColor(word string) string {
	if strings.HasPrefix(word, "\x1b[") {
		_, word, _ = strings.Cut(word, "m")
		word, _, _ = strings.Cut(word, "\x1b")
	}
	return word
}

// tidy takes out of the fields what controller-runtime says more than once about what is reconciled.
func (l *Line) tidy() {
	if l.Controller == "" && l.Reconcile == "" {
		return
	}
	named := map[string]string{}
	for _, f := range l.Fields {
		named[f.Name] = f.Value
	}
	kind, group := named["controllerKind"], named["controllerGroup"]
	l.Object, l.Kind, l.Group = named[kind], kind, group
	if l.Object == "" {
		l.Object = strings.TrimPrefix(named["namespace"]+"/"+named["name"], "/")
	}
	namespace, name, spaced := strings.Cut(l.Object, "/")
	if !spaced {
		namespace, name = "", l.Object
	}
	var rest []Field
	for _, f := range l.Fields {
		switch f {
		case Field{"controllerKind", kind}, Field{"controllerGroup", group}, Field{kind, l.Object}, Field{"namespace", namespace}, Field{"name", name}:
		default:
			rest = append(rest, f)
		}
	}
	l.Fields = rest
}

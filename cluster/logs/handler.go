package logs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

const timeFormat = "2006-01-02T15:04:05.000000Z"

// handler formats entries. logr's level n arrives as slog's level -n.
type handler struct {
	w      io.Writer
	known  []byte // attributes that every entry has, formatted
	prefix string // of the keys within a group
}

func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= -Verbose }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	var line bytes.Buffer
	begin(&line, r.Time, letter(r.Level))
	line.WriteString(indented(r.Message))
	line.Write(h.known)
	r.Attrs(func(a slog.Attr) bool {
		h.attr(&line, h.prefix, a)
		return true
	})
	line.WriteByte('\n')
	_, err := h.w.Write(line.Bytes())
	return err
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	known := bytes.NewBuffer(bytes.Clone(h.known))
	for _, a := range attrs {
		h.attr(known, h.prefix, a)
	}
	return &handler{w: h.w, known: known.Bytes(), prefix: h.prefix}
}

func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &handler{w: h.w, known: h.known, prefix: h.prefix + name + "."}
}

func (h *handler) attr(line *bytes.Buffer, prefix string, a slog.Attr) {
	value := a.Value
	if _, ok := value.Any().(fmt.Stringer); !ok { // references to objects are shorter as text than as groups
		value = value.Resolve()
	}
	if value.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, inner := range value.Group() {
			h.attr(line, prefix, inner)
		}
		return
	}
	fmt.Fprintf(line, " %s%s=%s", prefix, a.Key, quoted(text(value)))
}

func text(v slog.Value) string {
	switch any := v.Any().(type) {
	case error:
		return any.Error()
	case fmt.Stringer:
		return any.String()
	}
	return fmt.Sprintf("%+v", v.Any())
}

func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " =\"\n\r\t") {
		return strconv.Quote(s)
	}
	return s
}

func begin(line *bytes.Buffer, at time.Time, letter byte) {
	line.WriteString(at.UTC().Format(timeFormat))
	line.Write([]byte{' ', letter, ' '})
}

func letter(level slog.Level) byte {
	switch {
	case level >= slog.LevelError:
		return 'E'
	case level >= slog.LevelWarn:
		return 'W'
	}
	return 'I'
}

// indented marks all lines but the first as continuations.
func indented(s string) string {
	return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n\t")
}

// klogLines turns klog's format into ours: `E0102 15:04:05.000000   12345 file.go:12] message`.
type klogLines struct{ log *file }

func (k klogLines) Write(p []byte) (int, error) {
	if k.log == nil || len(p) == 0 {
		return len(p), nil
	}
	if _, err := k.log.Write(fromKlog(p, time.Now())); err != nil {
		return 0, err
	}
	return len(p), nil
}

// fromKlog reformats one write of klog's, which is an entry or, after a fatal one, stacks.
func fromKlog(p []byte, at time.Time) []byte {
	var line bytes.Buffer
	header, message, ok := strings.Cut(string(p), "] ")
	if ok && strings.ContainsRune("IWEF", rune(header[0])) {
		begin(&line, at, letterOf(header[0]))
	} else {
		line.WriteByte('\t')
		message = string(p)
	}
	line.WriteString(indented(message))
	line.WriteByte('\n')
	return line.Bytes()
}

// letterOf turns klog's letter into ours, which has no F: what is fatal is an error.
func letterOf(severity byte) byte {
	if severity == 'F' {
		return 'E'
	}
	return severity
}

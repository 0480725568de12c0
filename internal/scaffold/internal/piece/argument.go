package piece

import (
	"bytes"
	"regexp"
)

// A WrappedArgument is a call around the only argument of a method: Complete(r) becomes Complete(manager.Traced(r)). A
// file that has no such call is left alone.
type WrappedArgument struct{ Method, Argument, Around string }

// ID sets the piece apart from others of its file.
func (w WrappedArgument) ID() string { return w.Method + " " + w.Around }

func (w WrappedArgument) plain() string { return w.Method + "(" + w.Argument + ")" }

func (w WrappedArgument) wrapped() string { return w.Method + "(" + w.Around + "(" + w.Argument + "))" }

// Put wraps the argument.
func (w WrappedArgument) Put(_ string, src []byte) ([]byte, error) {
	return regexp.MustCompile(`\b`+regexp.QuoteMeta(w.plain())).ReplaceAllLiteral(src, []byte(w.wrapped())), nil
}

// Take unwraps it; a call that was changed has its line reported.
func (w WrappedArgument) Take(src []byte) ([]byte, int) {
	out := bytes.ReplaceAll(src, []byte(w.wrapped()), []byte(w.plain()))
	if at := bytes.Index(out, []byte(w.Around+"(")); at >= 0 {
		return src, 1 + bytes.Count(out[:at], []byte("\n"))
	}
	return out, 0
}

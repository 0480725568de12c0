// Package fault holds the error that a test's author meets: what is wrong,
// where, why, what was expected and which command to type next.
package fault

import (
	"errors"
	"strings"
)

// Error is a failure with what its reader needs to get on. Only What is required.
type Error struct {
	What  string // a short sentence without a full stop: `there is no cluster program`
	Where string // a path, a variable, an object
	Err   error  // why; the cause
	Hint  string // what was expected
	Next  string // the command to type next
}

// Error puts the parts on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.What)
	for _, part := range []struct{ before, text, after string }{
		{" at ", e.Where, ""}, {": ", e.why(), ""}, {" (", e.Hint, ")"}, {"; next: ", e.Next, ""},
	} {
		if part.text != "" {
			b.WriteString(part.before + part.text + part.after)
		}
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) why() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Text returns err as a test's log shows it: an [Error] on several lines.
func Text(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err.Error()
	}
	lines := []string{e.What}
	for _, part := range []struct{ label, text string }{
		{"where: ", e.Where}, {"why:   ", e.why()}, {"hint:  ", e.Hint}, {"next:  ", e.Next},
	} {
		if part.text != "" {
			lines = append(lines, "  "+part.label+strings.ReplaceAll(part.text, "\n", "\n         "))
		}
	}
	return strings.Join(lines, "\n")
}

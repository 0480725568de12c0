package project

import (
	"fmt"
	"strings"
)

// A FieldError is a value that cannot be used: a field of the PROJECT file, or a
// name given for one.
type FieldError struct {
	File     string // the file, or "" for a value that did not come from one
	Line     int    // 1 and up; 0 when unknown
	Column   int
	Field    string // path of the field: `domain`, `resources[1].kind`
	Value    string // what was found
	Problem  string // what is wrong with it: `has an upper-case letter`
	Expected string // what a right value looks like, with an example
}

// Error puts the parts on one line.
func (e *FieldError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Summary())
	if e.Expected != "" {
		b.WriteString(" (expected " + e.Expected + ")")
	}
	return b.String()
}

// Summary says field, value and problem, without the place and what was expected.
func (e *FieldError) Summary() string {
	switch {
	case e.Field == "":
		return e.Problem
	case e.Value == "":
		return e.Field + " " + e.Problem
	}
	return fmt.Sprintf("%s %q %s", e.Field, e.Value, e.Problem)
}

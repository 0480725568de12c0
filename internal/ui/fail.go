package ui

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/report"
)

const (
	// interruptedCode is what shells report for a process that SIGINT ended: 128 + 2.
	interruptedCode = 130
)

// failure is the error that ended an invocation, taken apart.
type failure struct {
	What  string `json:"what"`
	Where string `json:"where,omitempty"`
	Why   string `json:"why,omitempty"`
	Hint  string `json:"hint,omitempty"`
	Next  string `json:"next,omitempty"`

	Object   *report.ObjectRef `json:"object,omitempty"`
	NotReady []report.Unready  `json:"notReady,omitempty"`
	Class    report.Class      `json:"class,omitempty"`
	Code     int               `json:"code"`

	interrupted bool
}

// part is one labelled line below the first line of a failure.
type part struct{ label, text string }

// partWhere is the label of a failure's place.
const partWhere = "where"

// parts lists what is known beyond f.What.
func (f failure) parts() []part {
	var known []part
	for _, p := range []part{{partWhere, f.Where}, {"why", f.Why}, {"hint", f.Hint}, {"try", f.Next}} {
		if p.text != "" {
			known = append(known, p)
		}
	}
	return known
}

// A failer is a handler that knows how to show the end of an invocation.
type failer interface{ fail(failure) }

// Fail shows err through h and returns the exit code that belongs to it: that of
// the first [report.Error] in err's chain; 130 when the invocation was
// interrupted, that is when err is [context.Canceled] and nothing more was made of it;
// 1 otherwise. A nil error shows nothing and returns 0.
//
// Every handler of this package shows an error in its own way; any other gets
// it as a [report.Note].
func Fail(h report.Handler, err error) int {
	if err == nil {
		return 0
	}
	f := explain(err)
	show(h, f)
	return f.Code
}

// show tells f to h.
func show(h report.Handler, f failure) {
	if known, ok := h.(failer); ok {
		known.fail(f)
		return
	}
	h.Handle(report.Note{Text: f.What})
}

// explain takes err apart. A report.Error speaks for the whole chain it is part
// of: whoever wraps one adds nothing that its user needs.
func explain(err error) failure {
	known, ok := errors.AsType[*report.Error](err)
	switch {
	case errors.Is(err, context.Canceled) && (!ok || known.Code == 0):
		return failure{What: "interrupted", Code: interruptedCode, interrupted: true}
	case !ok:
		return failure{What: err.Error(), Code: 1}
	}
	f := failure{What: known.What, Where: known.Where, Hint: known.Hint, Next: known.Next, Class: known.Classified(), Code: known.ExitCode(),
		Object: known.Object, NotReady: known.Unready}
	if known.Err != nil {
		f.Why = known.Err.Error()
	}
	return f
}

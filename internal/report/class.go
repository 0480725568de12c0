package report

import "errors"

// Class is the kind of cause of a failure, so that programs need not read its text. It decides the exit code.
type Class string

// The classes of failures.
const (
	NotReady   Class = "not-ready"
	Conflict   Class = "conflict"
	Refused    Class = "refused"
	Timeout    Class = "timeout"
	BadProject Class = "bad-project"
)

// A ClassCode is a class with its exit code and its meaning.
type ClassCode struct {
	Class   Class
	Code    int
	Meaning string // without commas and full stops, since help lists the codes in one sentence
}

// Classes returns all classes in the order of their codes. Codes never change: programs depend on them.
func Classes() []ClassCode {
	return []ClassCode{
		{NotReady, 3, "an object does not become ready"},
		{Conflict, 4, "another field manager or command owns what would change"},
		{Refused, 5, "the API server or a webhook or a policy refused a request"},
		{Timeout, 6, "the time was up"},
		{BadProject, 7, "the project is missing or its files have a mistake"},
	}
}

// code is the exit code of a class, 0 without one.
func (c Class) code() int {
	for _, known := range Classes() {
		if known.Class == c {
			return known.Code
		}
	}
	return 0
}

// Classified returns e's class, or that of its first classified cause. A mistake on the command line and an error with
// an exit code of its own do not take over the class of a cause.
func (e *Error) Classified() Class {
	cause, is := errors.AsType[*Error](e.Err)
	if e.Class != "" || !is || e.Code != 0 || e.ofFlag() {
		return e.Class
	}
	return cause.Classified()
}

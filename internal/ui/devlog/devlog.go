// Package devlog makes the log of an operator's manager readable. [Parse] takes a line apart, whatever wrote it:
//
//   - zap with controller-runtime's options for production (JSON) and for development (columns between tabs);
//   - log/slog, logr's funcr, klog and logrus, as JSON;
//   - klog, log/slog and funcr, as text.
//
// A [Printer] writes what Parse returns as one short line, followed by the frames of the user's own module if there is
// a stack trace:
//
//	15:04:05 INFO  cronjob default/sample #3f2  created job  job=sample-28
//
// The tag #3f2 is the beginning of the id of a reconcile. It has a colour of its own, so that the lines of reconciles
// that run at the same time can be distinguished; lines are neither held back nor reordered.
//
// Lines are what a program under development prints, and so hostile: they are cut at [MaxLine], and what a terminal
// would act on is made visible.
package devlog

import (
	"strings"
	"time"
)

// MaxLine is the number of bytes that are read of a line.
const MaxLine = 64 << 10

// Level is how grave a line is.
type Level int

// The levels. Unknown is for lines that do not have one.
const (
	Unknown Level = iota
	Debug
	Info
	Warn
	Error
)

// String is the level in the form of logs: DEBUG, INFO, WARN, ERROR, and nothing for Unknown.
func (l Level) String() string {
	return [...]string{Unknown: "", Debug: "DEBUG", Info: "INFO", Warn: "WARN", Error: "ERROR"}[l]
}

// ParseLevel returns the level of a name in any case, as loggers write it: "info", "WARNING", "dpanic", "INFO+2",
// "Level(-3)". It is Unknown for all others.
func ParseLevel(name string) Level {
	name = strings.ToLower(name)
	if isDeep(name) {
		return Debug
	}
	name, _, _ = strings.Cut(name, "+")
	name, _, _ = strings.Cut(name, "-")
	switch name {
	case "trace", "debug":
		return Debug
	case "info":
		return Info
	case "warn", "warning":
		return Warn
	case "error", "dpanic", "panic", "fatal":
		return Error
	}
	return Unknown
}

// isDeep reports whether a level is zap's for logr's verbosity above 1.
func isDeep(name string) bool { return strings.HasPrefix(strings.ToLower(name), "level(-") }

// Line is a line of a log. If Structured is false, only Message is set: the line as it is.
type Line struct {
	Structured bool
	Time       time.Time // zero when unknown
	Level      Level
	Logger     string
	Controller string
	Object     string // namespace/name of what is reconciled
	Kind       string // of what is reconciled
	Group      string // the kind's
	Reconcile  string // the id of a reconcile
	Trace      string // the id of a trace that it is part of
	Message    string
	Error      string
	Stack      string // functions and, on lines of their own, files, as Go prints them
	Fields     []Field

	failed  bool // it has a key for an error, which may be null
	deep    bool // logr's verbosity is above 1
	stamped bool // it has the key of zap's JSON for the time
	small   bool // and its word for the level of debugging
	console bool // a stack trace may follow in lines of its own
}

// IsUsual reports whether a manager logs the line that does not set the level of controller-runtime's zap: debugging
// only with the options for development, which come as columns, and no verbosity above 1.
func (l Line) IsUsual() bool { return !l.deep && !(l.stamped && l.small) }

// Field is something else that a line says, in its order.
type Field struct{ Name, Value string }

// Source is the name by which a reader knows what wrote the line: the controller, else the logger.
func (l Line) Source() string {
	if l.Controller != "" {
		return l.Controller
	}
	return l.Logger
}

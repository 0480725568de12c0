package devloop

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// compilerMessages makes findings of what the go command says of a build that fails.
type compilerMessages struct {
	handler report.Handler
	session *operation.Session
	root    string
	first   string // the first finding, in one line
}

// compilerMessage has the form of the compiler's: file:line:column: message.
var compilerMessage = lazy.Regexp(`^([^:\s][^:]*\.go):(\d+)(?::(\d+))?: (.+)$`)

// line reads a line. What has another form is passed on, but for the names of packages and downloads.
func (m *compilerMessages) line(text string) {
	parts := compilerMessage().FindStringSubmatch(text)
	switch {
	case parts != nil:
	case strings.HasPrefix(text, "# "), strings.HasPrefix(text, "go: downloading "):
		return
	default:
		m.note(text)
		m.handler.Handle(report.Output{Part: report.BuildPart, Text: text})
		return
	}
	line, _ := strconv.Atoi(parts[2])
	column, _ := strconv.Atoi(parts[3]) // 0 without one
	file := parts[1]
	if !filepath.IsAbs(file) {
		file = filepath.Join(m.root, file)
	}
	f := report.Finding{Rule: report.RuleCompile, Position: report.Position{File: m.session.Relative(file), Line: line, Column: column}, Message: parts[4], Fatal: true}
	m.note(f.Position.String() + ": " + f.Message)
	m.handler.Handle(f)
}

func (m *compilerMessages) note(text string) {
	if m.first == "" {
		m.first = text
	}
}

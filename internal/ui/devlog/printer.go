package devlog

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// maxValue is the number of characters that are shown of a field.
const maxValue = 160

// A Printer writes lines for people. It keeps in mind whether it is within a stack trace, so that the lines of a
// program go to one Printer in their order. It is not safe for use by several goroutines.
type Printer struct {
	Color  bool           // of levels and reconciles
	Module string         // the path of the user's module; without it all frames are taken for the user's own
	Dir    string         // the module's folder, which names of files begin with
	Zone   *time.Location // of times; nil means the local one

	trace trace // of zap's console, whose stack traces are lines of their own
}

// Format is one line, followed by indented ones where its message or a stack trace needs them, without a new line at
// the end. It is empty for a line that is left out: the frame of a stack trace that is not of the user's module.
func (p *Printer) Format(l Line) string {
	if l.Structured {
		before := p.leftOut()
		p.trace = trace{open: l.console && l.Level >= Warn}
		return before + p.structured(l)
	}
	if p.trace.open && p.trace.takes(l.Message) {
		return p.frames(p.trace.next(p, l.Message))
	}
	before := p.leftOut()
	p.trace = trace{}
	return before + ansi.Plain(l.Message)
}

// structured writes a line in its parts.
func (p *Printer) structured(l Line) string {
	var head []string
	if !l.Time.IsZero() {
		head = append(head, p.paint(ansi.Faint, p.clock(l.Time)))
	}
	if l.Level != Unknown {
		head = append(head, p.paint(levelColor(l.Level), fmt.Sprintf("%-5s", l.Level)))
	}
	if source := l.Source(); source != "" {
		head = append(head, p.paint(ansi.Bold, ansi.Plain(source)))
	}
	if l.Object != "" {
		head = append(head, ansi.Plain(l.Object))
	}
	if tag := reconcileTag(l.Reconcile); tag != "" {
		head = append(head, p.paint(reconcileColor(l.Reconcile), tag))
	}
	text := strings.Join(head, " ")
	if text != "" {
		text += " "
		if l.Source() != "" || l.Object != "" {
			text += " "
		}
	}
	text += indented(l.Message)
	if l.Error != "" {
		text += ": " + p.paint(ansi.Red, indented(l.Error))
	}
	for i, f := range l.Fields {
		text += strings.Repeat(" ", max(1, 2-i)) + p.paint(ansi.Faint, ansi.Plain(f.Name)+"=") + shortValue(f.Value)
	}
	if l.Stack != "" {
		if frames := p.frames(p.stack(l.Stack)); frames != "" {
			text += "\n" + frames
		}
	}
	return text
}

func (p *Printer) paint(c ansi.Color, text string) string { return ansi.Paint(p.Color, c, text) }

// clock is the time of day.
func (p *Printer) clock(t time.Time) string {
	zone := p.Zone
	if zone == nil {
		zone = time.Local
	}
	if t.Year() == 0 {
		zone = t.Location() // klog's times have no date, with which zones change their offsets
	}
	return t.In(zone).Format(time.TimeOnly)
}

func levelColor(l Level) ansi.Color {
	return [...]ansi.Color{Unknown: ansi.Faint, Debug: ansi.Faint, Info: ansi.Green, Warn: ansi.Yellow, Error: ansi.Red}[l]
}

// tagLength is the number of characters that are shown of the id of a reconcile: few enough to read, and enough to
// distinguish some dozens of them.
const tagLength = 3

// reconcileTag is the beginning of an id, and empty for what is none.
func reconcileTag(id string) string {
	if len(id) < tagLength {
		return ""
	}
	for _, c := range []byte(id[:tagLength]) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return ""
		}
	}
	return "#" + id[:tagLength]
}

// reconcileColor is the same for all lines of a reconcile. Colours of levels are not among them.
func reconcileColor(id string) ansi.Color {
	colors := [...]ansi.Color{ansi.Cyan, ansi.Magenta, ansi.Blue, "96", "95", "94"}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(id))
	return colors[sum.Sum32()%uint32(len(colors))]
}

// indented is a text whose further lines are indented.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(ansi.Plain(text), "\n"), "\n", "\n    ")
}

// shortValue is a value cut to a length that can be read, in quotes where blanks would hide where it ends.
func shortValue(value string) string {
	if runes := []rune(value); len(runes) > maxValue {
		value = string(runes[:maxValue-1]) + "…"
	}
	if value == "" || strings.ContainsAny(value, " \t\n\"=") && !strings.HasPrefix(value, "{") && !strings.HasPrefix(value, "[") {
		value = strconv.Quote(value)
	}
	return strings.ReplaceAll(ansi.Plain(value), "\n", `\n`)
}

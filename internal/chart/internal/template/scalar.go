package template

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// A Mark is text in literal strings that an action replaces.
type Mark struct {
	Text    string // unlike any text that a user writes
	Action  string // an expression, such as .Release.Namespace; its value is part of a DNS name
	Tail    string // literal text after the action
	Default string // the action's result with default values, if that may not be a DNS name, such as ""
}

// Marks are all marks that a tree may contain.
type Marks []Mark

// In reports whether a string contains a mark.
func (m Marks) In(text string) bool {
	for _, mark := range m {
		if strings.Contains(text, mark.Text) {
			return true
		}
	}
	return false
}

// Escape returns a template that renders to text.
func Escape(text string) string { return strings.ReplaceAll(text, "{{", `{{ "{{" }}`) }

// scalar returns a scalar's text. Continued begins each further line.
func (m Marks) scalar(value any, continued string) string {
	switch v := value.(type) {
	case string:
		return m.text(v, continued)
	case nil:
		return "null"
	}
	data, err := json.Marshal(value)
	if err != nil { // not a value of JSON
		return fmt.Sprint(value)
	}
	return string(data)
}

// key returns a key's text, on one line.
func (m Marks) key(key string) string {
	if strings.Contains(key, "\n") {
		return m.actions(quoted(key))
	}
	return m.text(key, "")
}

// text returns a string's text. Continued begins each further line.
func (m Marks) text(text, continued string) string {
	if !m.In(text) {
		return Escape(encode(text, continued))
	}
	for _, mark := range m {
		if text == mark.Text && mark.Tail == "" {
			return "{{ " + mark.Action + " | quote }}"
		}
	}
	encoded := encode(text, continued)
	if !strings.ContainsFunc(m.replace(text, func(Mark) string { return "" }), unicode.IsLetter) {
		encoded = quoted(text) // the result may look like a number
	}
	if m.filled(encoded) != encode(m.filled(text), continued) {
		encoded = quoted(text) // the rest may look like a number if the action renders ""
	}
	return m.actions(encoded)
}

func (m Marks) filled(text string) string {
	return m.replace(text, func(mark Mark) string { return mark.Default + mark.Tail })
}

// actions replaces marks by actions, and escapes the text between them.
func (m Marks) actions(encoded string) string {
	var out strings.Builder
	for encoded != "" {
		at, next := len(encoded), Mark{}
		for _, mark := range m {
			if i := strings.Index(encoded, mark.Text); i >= 0 && i < at {
				at, next = i, mark
			}
		}
		literal := encoded[:at]
		if next.Text == "" {
			out.WriteString(Escape(literal))
			break
		}
		before := strings.TrimRight(literal, "{")
		out.WriteString(Escape(before))
		if braces := literal[len(before):]; braces != "" { // they would open the action too early
			out.WriteString(`{{ "` + braces + `" }}`)
		}
		out.WriteString("{{ " + next.Action + " }}" + next.Tail)
		encoded = encoded[at+len(next.Text):]
	}
	return out.String()
}

func (m Marks) replace(text string, by func(Mark) string) string {
	for _, mark := range m {
		text = strings.ReplaceAll(text, mark.Text, by(mark))
	}
	return text
}

// encode returns a string as YAML. Continued begins each further line.
func encode(text, continued string) string {
	if strings.Contains(text, "\n") {
		if !isBlock(text) {
			return quoted(text)
		}
		head := "|-"
		if strings.HasSuffix(text, "\n") {
			head = "|"
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, line := range lines {
			if line != "" {
				lines[i] = continued + line
			}
		}
		return head + "\n" + strings.Join(lines, "\n")
	}
	if strings.ContainsFunc(text, isOdd) {
		return quoted(text)
	}
	data, err := yaml.Marshal(text)
	if encoded := strings.TrimSuffix(string(data), "\n"); err == nil && !strings.Contains(encoded, "\n") && !strings.HasPrefix(encoded, "|") {
		return encoded
	}
	return quoted(text)
}

var oddLine = lazy.Regexp(`(?m)[ \t]$|^\t`)

// isBlock reports whether a text of several lines can be a block that keeps every line. It must have no invisible
// space, and no empty first or last line: Helm trims around documents, and actions trim what is before them.
func isBlock(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	if body == "" || strings.HasPrefix(body, "\n") || strings.HasSuffix(body, "\n") || strings.HasPrefix(body, " ") || oddLine().MatchString(body) {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && isOdd(r) })
}

// isOdd reports whether a character is invisible or unprintable.
func isOdd(r rune) bool { return !unicode.IsPrint(r) || r == '\uFEFF' || r == unicode.ReplacementChar }

// quoted returns a string in double quotes, on one line.
func quoted(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteRune('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case !isOdd(r) || r == unicode.ReplacementChar:
			out.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			fmt.Fprintf(&out, `\U%08X`, r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

package policy

import (
	"strings"
	"unicode"
)

// words are what an expression consists of, as far as it matters whether a policy can have it: names and operators,
// without what stands in literals.
type words struct {
	names     []string
	operators string
	alone     []string // names that nothing is selected from, other than to ask whether they are there
	comment   bool
	asked     bool // within has(…)
}

// read reads an expression. One that is no CEL gives words all the same: the API server refuses it in the definition.
func read(text string) words {
	var w words
	rest := text
	for rest != "" {
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "//"):
			w.comment = true
			_, rest, _ = strings.Cut(rest, "\n")
		case c == '"' || c == '\'':
			rest = afterLiteral(rest, false)
		case isRaw(rest):
			rest = afterLiteral(rest[1:], true)
		case c == '_' || unicode.IsLetter(rune(c)):
			end := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if end < 0 {
				end = len(rest)
			}
			w.add(rest[:end], rest[end:])
			rest = rest[end:]
		default:
			if strings.IndexByte("+-*/%=<>!&|?", c) >= 0 {
				w.operators += string(c)
			}
			rest = rest[1:]
		}
	}
	w.operators = strings.NewReplacer("<=", "<", ">=", ">").Replace(w.operators)
	return w
}

// add adds a name.
func (w *words) add(name, after string) {
	w.names = append(w.names, name)
	after = strings.TrimLeft(after, " \t\n")
	switch {
	case strings.HasPrefix(after, ".") || strings.HasPrefix(after, "["):
	case w.asked && strings.HasPrefix(after, ")"):
	default:
		w.alone = append(w.alone, name)
	}
	w.asked = name == "has" || w.asked && strings.HasPrefix(after, ".")
}

// isRaw reports whether a literal without escapes begins here.
func isRaw(text string) bool {
	return len(text) > 1 && (text[0] == 'r' || text[0] == 'R') && (text[1] == '"' || text[1] == '\'')
}

// afterLiteral is what follows the literal that text begins with.
func afterLiteral(text string, raw bool) string {
	quote := text[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text, triple) {
		quote = triple
	}
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && !raw:
			i++
		case strings.HasPrefix(text[i:], quote):
			return text[i+len(quote):]
		}
	}
	return ""
}

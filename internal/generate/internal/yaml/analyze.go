package yaml

import (
	"strings"
	"unicode/utf8"
)

// shape says which styles can hold a text.
type shape struct {
	breaks  bool // has line breaks
	escapes bool // has characters that are written as escapes
	plain   bool // may stand without quotes, outside of flow collections
	single  bool
	literal bool
}

// analyze looks at a text once.
func analyze(text string) shape {
	if text == "" {
		return shape{plain: true, single: true}
	}
	if isSimple(text) {
		return shape{plain: true, single: true, literal: true}
	}
	special := hasIndicators(text)
	breaks, escapes, spaceBreak, breakSpace := false, false, false, false
	previous := rune(-1)
	for _, r := range text {
		switch {
		case isBreak(r):
			breaks = true
			spaceBreak = spaceBreak || previous == ' '
		case r == ' ':
			breakSpace = breakSpace || previous >= 0 && isBreak(previous)
		}
		escapes = escapes || !isPrintable(r)
		previous = r
	}
	first, _ := utf8.DecodeRuneInString(text)
	edges := first == ' ' || isBreak(first) || previous == ' ' || isBreak(previous)
	unquotable := spaceBreak || escapes
	return shape{
		breaks:  breaks,
		escapes: escapes,
		plain:   !special && !breaks && !edges && !breakSpace && !unquotable,
		single:  !breakSpace && !unquotable,
		literal: previous != ' ' && !unquotable,
	}
}

// isSimple recognises most texts, words of printable ASCII, at once.
func isSimple(text string) bool {
	if c := text[0] | 0x20; c < 'a' || c > 'z' {
		return false
	}
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == ':' || c == '#' {
			return false
		}
	}
	return text[len(text)-1] != ' '
}

// hasIndicators reports whether something in the text would mean something else
// than itself in a plain text.
func hasIndicators(text string) bool {
	if strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...") {
		return true
	}
	if strings.IndexByte("#,[]{}&*!|>'\"%@`", text[0]) >= 0 {
		return true
	}
	if strings.IndexByte("?:-", text[0]) >= 0 && blankAt(text, 1) {
		return true
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == ':' && blankAt(text, i+1):
			return true
		case text[i] == '#' && separatesBefore(text[:i]):
			return true
		}
	}
	return false
}

func blankAt(text string, i int) bool {
	return i >= len(text) || text[i] == ' ' || text[i] == '\t'
}

// separatesBefore reports whether what ends text makes a following # a comment.
func separatesBefore(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r == ' ' || r == '\t' || r == 0 || isBreak(r)
}

func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// isPrintable is YAML's idea of it, less all beyond U+FFFF.
func isPrintable(r rune) bool {
	switch {
	case r == '\n', r >= ' ' && r <= '~', r >= 0xa0 && r <= 0xd7ff:
		return true
	}
	return r >= 0xe000 && r <= 0xfffd && r != 0xfeff
}

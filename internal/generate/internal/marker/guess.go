package marker

import (
	"text/scanner"

	"github.com/slipway-dev/slipway/internal/generate/edition"
)

// maxNesting bounds how deep braces are looked into.
const maxNesting = 100

// guesser looks ahead to what a value is.
type guesser struct {
	syntax edition.Syntax
	fail   func(format string, args ...any)
}

// scan begins to scan a text. Where a number has to be all of a value, what is malformed in it makes it none; else it
// is a mistake, found by looking ahead.
func (g guesser) scan(s *scanner.Scanner, text string) (malformed *bool) {
	malformed = new(bool)
	initScanner(s, text, func(_ *scanner.Scanner, message string) {
		*malformed = true
		if g.syntax.Digits {
			g.fail("%s", message)
		}
	})
	return malformed
}

// guess says what shape the value at the start of text most likely has. Lists
// separated by semicolons are not considered, see semicolonAhead.
func (g guesser) guess(text string, depth int) shape {
	if depth > maxNesting {
		return shape{kind: kindString}
	}
	var s scanner.Scanner
	malformed := g.scan(&s, text)
	switch hint := peek(&s); hint {
	case '"', '\'', '`':
		return shape{kind: kindString}
	case '{':
		s.Scan()
		return g.braced(&s, text, depth)
	case 't', 'f':
		s.Scan()
		if word := s.TokenText(); word == "true" || word == "false" {
			return shape{kind: kindBool}
		}
		return shape{kind: kindString}
	}
	tok := s.Scan()
	if tok == '-' {
		tok = s.Scan()
	}
	// A number is one only up to a delimiter: 100Mi, 2024-01-15 and 087f are words.
	if (tok == scanner.Int || tok == scanner.Float) && (g.syntax.Digits || !*malformed && delimits(peek(&s), false)) {
		if tok == scanner.Int {
			return shape{kind: kindInt}
		}
		return shape{kind: kindNumber}
	}
	return shape{kind: kindString}
}

// braced distinguishes a map from a list by the colon after its first string; s
// stands after the opening brace. Empty braces are a map.
func (g guesser) braced(s *scanner.Scanner, text string, depth int) shape {
	first := peek(s)
	item := g.guess(text[s.Pos().Offset:], depth+1)
	if item.kind == kindString {
		readString(s, text, true, func(string, ...any) {})
		if s.Scan() == ':' || first == '}' {
			return shape{kind: kindMap, item: &shape{kind: kindAny}}
		}
	}
	return shape{kind: kindSlice, item: &item}
}

// semicolonAhead reports whether a semicolon comes before the next comma.
func (g guesser) semicolonAhead(text string) bool {
	var s scanner.Scanner
	g.scan(&s, text)
	for {
		switch s.Scan() {
		case ';':
			return true
		case ',', scanner.EOF:
			return false
		}
	}
}

package marker

import "text/scanner"

// maxNesting bounds how deep braces are looked into.
const maxNesting = 100

// guess says what shape the value at the start of text most likely has. Lists
// separated by semicolons are not considered, see semicolonAhead.
func guess(text string) shape { return guessAt(text, 0) }

func guessAt(text string, depth int) shape {
	if depth > maxNesting {
		return shape{kind: kindString}
	}
	var s scanner.Scanner
	malformed := false
	initScanner(&s, text, func(*scanner.Scanner, string) { malformed = true })
	switch hint := peek(&s); hint {
	case '"', '\'', '`':
		return shape{kind: kindString}
	case '{':
		s.Scan()
		return guessBraced(&s, text, depth)
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
	if (tok == scanner.Int || tok == scanner.Float) && !malformed && delimits(peek(&s), false) {
		if tok == scanner.Int {
			return shape{kind: kindInt}
		}
		return shape{kind: kindNumber}
	}
	return shape{kind: kindString}
}

// guessBraced tells a map from a list by the colon after its first string; s
// stands after the opening brace. Empty braces are a map.
func guessBraced(s *scanner.Scanner, text string, depth int) shape {
	first := peek(s)
	item := guessAt(text[s.Pos().Offset:], depth+1)
	if item.kind == kindString {
		readString(s, text, true, func(string, ...any) {})
		if s.Scan() == ':' || first == '}' {
			return shape{kind: kindMap, item: &shape{kind: kindAny}}
		}
	}
	return shape{kind: kindSlice, item: &item}
}

// semicolonAhead reports whether a semicolon comes before the next comma.
func semicolonAhead(text string) bool {
	var s scanner.Scanner
	initScanner(&s, text, func(*scanner.Scanner, string) {})
	for {
		switch s.Scan() {
		case ';':
			return true
		case ',', scanner.EOF:
			return false
		}
	}
}

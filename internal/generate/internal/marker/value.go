package marker

import (
	"reflect"
	"strconv"
	"text/scanner"
)

// value reads one value of the given shape into out. A value of any shape that
// stands in a list is never itself a list without braces.
func (p *parser) value(s shape, out reflect.Value, inList bool) {
	if s.ptr {
		out.Set(reflect.New(out.Type().Elem()))
		out = out.Elem()
	}
	switch s.kind {
	case kindRaw:
		set(out, p.text[p.Pos().Offset:])
		for p.Scan() != scanner.EOF {
		}
	case kindNumber:
		p.number(out)
	case kindInt:
		p.integer(out)
	case kindString:
		set(out, p.str(false))
	case kindBool:
		p.boolean(out)
	case kindSlice:
		p.list(*s.item, out)
	case kindMap:
		p.mapping(*s.item, out)
	case kindAny:
		p.anything(out, inList)
	}
}

// set stores v in out, which is of v's kind but may have a type of its own.
func set(out reflect.Value, v any) {
	out.Set(reflect.ValueOf(v).Convert(out.Type()))
}

func (p *parser) sign() string {
	if p.Peek() != '-' {
		return ""
	}
	p.Scan()
	return "-"
}

func (p *parser) number(out reflect.Value) {
	sign := p.sign()
	if tok := p.Scan(); tok != scanner.Float && tok != scanner.Int {
		p.fail("expected a number, found %q", p.TokenText())
		return
	}
	f, err := strconv.ParseFloat(sign+p.TokenText(), 64)
	if err != nil {
		p.fail("expected a number, found %q", sign+p.TokenText())
		return
	}
	set(out, f)
}

func (p *parser) integer(out reflect.Value) {
	sign := p.sign()
	if !p.expect(scanner.Int, "an integer") {
		return
	}
	i, err := strconv.Atoi(sign + p.TokenText())
	if err != nil {
		p.fail("expected a decimal integer, found %q", sign+p.TokenText())
		return
	}
	set(out, i)
}

func (p *parser) boolean(out reflect.Value) {
	if !p.expect(scanner.Ident, "true or false") {
		return
	}
	switch word := p.TokenText(); word {
	case "true", "false":
		set(out, word == "true")
	default:
		p.fail("expected true or false, found %q", word)
	}
}

// str reads a quoted string, or bare words up to a delimiter; a colon is one
// only before the value of a map's key.
func (p *parser) str(key bool) string {
	return readString(&p.Scanner, p.text, key || p.syntax.Colons, p.fail)
}

func readString(s *scanner.Scanner, text string, key bool, fail func(string, ...any)) string {
	mode := s.Mode
	s.Mode &^= scanner.ScanInts | scanner.ScanFloats // 1.2.3 and 08 are fine words
	defer func() { s.Mode = mode }()
	if tok := s.Scan(); tok == scanner.String || tok == scanner.RawString {
		unquoted, err := strconv.Unquote(s.TokenText())
		if err != nil {
			fail("%s is not a Go string", s.TokenText())
		}
		return unquoted
	}
	start := s.Offset
	for !delimits(peek(s), key) {
		s.Scan()
	}
	return text[start : s.Offset+len(s.TokenText())]
}

func delimits(r rune, key bool) bool {
	switch r {
	case ',', ';', '}', scanner.EOF:
		return true
	case ':':
		return key
	}
	return false
}

// list reads {a, b} or a;b.
func (p *parser) list(item shape, out reflect.Value) {
	items := reflect.Zero(out.Type())
	next := func() {
		element := reflect.New(out.Type().Elem()).Elem()
		p.value(item, element, true)
		items = reflect.Append(items, element)
	}
	if peek(&p.Scanner) == '{' {
		p.braced(next)
	} else {
		p.semicolons(next)
	}
	if p.ok() {
		out.Set(items)
	}
}

// braced calls next before each item of {…, …}.
func (p *parser) braced(next func()) {
	if !p.expect('{', "{") {
		return
	}
	for r := peek(&p.Scanner); p.ok() && r != '}' && r != scanner.EOF; r = peek(&p.Scanner) {
		next()
		if !p.ok() || peek(&p.Scanner) == '}' {
			break
		}
		if !p.expect(',', "a comma or }") {
			return
		}
	}
	if p.ok() {
		p.expect('}', "}")
	}
}

func (p *parser) semicolons(next func()) {
	ends := func(r rune) bool { return r == ',' || r == '}' || r == scanner.EOF }
	for !ends(peek(&p.Scanner)) {
		next()
		if !p.ok() || ends(peek(&p.Scanner)) {
			return
		}
		if !p.expect(';', "a semicolon") {
			return
		}
	}
}

// mapping reads {key: value, …}.
func (p *parser) mapping(item shape, out reflect.Value) {
	entries := reflect.MakeMap(out.Type())
	p.braced(func() {
		key := reflect.New(out.Type().Key()).Elem()
		set(key, p.str(true))
		if !p.ok() || !p.expect(':', "a colon") {
			return
		}
		element := reflect.New(out.Type().Elem()).Elem()
		p.value(item, element, false)
		entries.SetMapIndex(key, element)
	})
	if p.ok() {
		out.Set(entries)
	}
}

// anything reads a value whose shape must be guessed.
func (p *parser) anything(out reflect.Value, inList bool) {
	rest := p.text[p.Pos().Offset:]
	g := guesser{p.syntax, p.fail}
	s := g.guess(rest, 0)
	if item := s; !inList && g.semicolonAhead(rest) {
		s = shape{kind: kindSlice, item: &item}
	}
	element := reflect.New(goType(s)).Elem()
	p.value(s, element, false)
	if p.ok() {
		out.Set(element)
	}
}

// goType is the type of the values that have a guessed shape.
func goType(s shape) reflect.Type {
	switch s.kind {
	case kindInt:
		return reflect.TypeFor[int]()
	case kindNumber:
		return reflect.TypeFor[float64]()
	case kindBool:
		return reflect.TypeFor[bool]()
	case kindSlice:
		return reflect.SliceOf(goType(*s.item))
	case kindMap:
		return reflect.MapOf(reflect.TypeFor[string](), goType(*s.item))
	case kindAny:
		return reflect.TypeFor[any]()
	}
	return reflect.TypeFor[string]()
}

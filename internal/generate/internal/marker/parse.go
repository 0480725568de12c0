package marker

import (
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"text/scanner"

	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/spelling"
)

// problem is what is wrong with one marker.
type problem struct {
	pos        token.Pos
	text       string
	suggestion string
}

// parse makes the value of the marker c, which d defines. With a problem that is the value as far as it could be read.
func (p *parser) parse(d *Definition, c Comment) (any, *problem) {
	named, nameless, rest := split(c.Text)
	out := reflect.New(d.output)
	if d.custom {
		if err := out.Interface().(Unmarshaler).UnmarshalMarker(nameless, rest); err != nil {
			return nil, &problem{pos: c.Pos + token.Pos(len(c.Text)-len(rest)), text: err.Error()}
		}
		return out.Elem().Interface(), nil
	}
	arguments := rest
	if !d.nameless && len(d.args) > 0 && len(nameless) > len(named) {
		arguments = c.Text[1+len(named)+1:]
	}
	if arguments == "" && d.allOptional() {
		return out.Elem().Interface(), nil
	}
	p.begin(arguments, c.Pos+token.Pos(len(c.Text)-len(arguments)))
	p.arguments(d, out.Elem())
	return out.Elem().Interface(), p.problem
}

func (d *Definition) allOptional() bool {
	return !slices.ContainsFunc(d.args, func(a argument) bool { return !a.optional })
}

// parser reads the arguments of one marker after the other. It keeps the first problem of each only:
// what follows one is mostly its echo.
type parser struct {
	scanner.Scanner
	syntax  edition.Syntax
	text    string
	base    token.Pos // of the first byte of text
	problem *problem
}

// begin has the parser read a text, whatever it has read before.
func (p *parser) begin(text string, base token.Pos) {
	p.text, p.base, p.problem = text, base, nil
	initScanner(&p.Scanner, text, func(_ *scanner.Scanner, message string) { p.fail("%s", message) })
}

func initScanner(s *scanner.Scanner, text string, onError func(*scanner.Scanner, string)) {
	s.Init(strings.NewReader(text))
	s.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanStrings | scanner.ScanRawStrings | scanner.SkipComments
	s.Error = onError
}

func (p *parser) fail(format string, args ...any) {
	if p.problem != nil {
		return
	}
	at := p.Position
	if !at.IsValid() {
		at = p.Pos()
	}
	p.problem = &problem{pos: p.base + token.Pos(at.Offset), text: fmt.Sprintf(format, args...)}
}

func (p *parser) ok() bool { return p.problem == nil }

// arguments reads the whole text into out, a value of d's type.
func (p *parser) arguments(d *Definition, out reflect.Value) {
	var seen []string
	switch {
	case len(d.args) == 0 || p.Peek() == scanner.EOF:
	case d.nameless:
		p.value(d.args[0].shape, d.args[0].in(out), false)
		seen = append(seen, "")
	default:
		seen = p.namedArguments(d, out)
	}
	if p.ok() && p.Scan() != scanner.EOF {
		p.fail("unexpected text %q", p.text[p.Offset:])
	}
	if p.ok() {
		p.missing(slices.DeleteFunc(slices.Clone(d.args), func(a argument) bool { return a.optional || slices.Contains(seen, a.name) }))
	}
}

// missing reports the arguments that are needed and not there, all at once, with what to write where the definition
// says it.
func (p *parser) missing(arguments []argument) {
	if len(arguments) == 0 {
		return
	}
	if arguments[0].name == "" {
		p.fail("needs a value after =, %s", arguments[0].kind)
		return
	}
	var names, text []string
	for _, a := range arguments {
		names = append(names, fmt.Sprintf("%s, %s", a.name, a.kind))
		if a.example != "" {
			text = append(text, a.name+"="+a.example)
		}
	}
	noun := "argument"
	if len(names) > 1 {
		noun = "arguments"
	}
	p.fail("needs the %s %s", noun, strings.Join(names, "; "))
	if len(text) == len(names) {
		p.problem.suggestion = "add " + strings.Join(text, ",")
	}
}

// in returns the part of a marker's value that the argument sets.
func (a argument) in(out reflect.Value) reflect.Value {
	if a.field < 0 {
		return out
	}
	return out.Field(a.field)
}

func (p *parser) namedArguments(d *Definition, out reflect.Value) (seen []string) {
	for p.ok() && p.expect(scanner.Ident, "the name of an argument") {
		name := p.TokenText()
		index, known := d.byName[name]
		if !known {
			p.unknownArgument(d, name)
			return seen
		}
		if !p.expect('=', "= after "+name) {
			return seen
		}
		seen = append(seen, name)
		p.value(d.args[index].shape, d.args[index].in(out), false)
		if !p.ok() || p.Peek() == scanner.EOF || !p.expect(',', "a comma or the end") {
			return seen
		}
	}
	return seen
}

func (p *parser) unknownArgument(d *Definition, name string) {
	if since := d.later[name]; since != "" {
		p.fail("has the argument %q only since controller-gen %s", name, since)
		p.problem.suggestion = "leave it out, or pin " + since + " or later"
		return
	}
	p.fail("has no argument %q", name)
	var names []string
	for _, a := range d.args {
		names = append(names, a.name)
		if p.problem.suggestion == "" && spelling.Distance(strings.ToLower(a.name), strings.ToLower(name), 2) <= 2 {
			p.problem.suggestion = "did you mean " + a.name + "?"
		}
	}
	if p.problem.suggestion == "" {
		p.problem.suggestion = "it has " + strings.Join(names, ", ")
	}
}

// expect reads one token and reports whether it is the wanted one.
func (p *parser) expect(want rune, what string) bool {
	if p.Scan() == want {
		return true
	}
	if p.TokenText() == "" {
		p.fail("expected %s at the end", what)
	} else {
		p.fail("expected %s, found %q", what, p.TokenText())
	}
	return false
}

// peek skips white space and returns the rune after it without reading it.
func peek(s *scanner.Scanner) rune {
	for {
		r := s.Peek()
		if r < 0 || r > ' ' || s.Whitespace&(1<<uint(r)) == 0 {
			return r
		}
		s.Next()
	}
}

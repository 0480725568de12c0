package recipe

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// Reasons why a call is unclear.
const (
	inLarger     = "it is part of a larger shell command"
	unknownWord  = "an argument depends on a value that only make or the shell knows"
	unknownDir   = "its folder depends on what only make or the shell know"
	outsideDir   = "its folder is outside of the project"
	severalDirs  = "cd has not one folder"
	throughOther = "another program runs it"
	tooMany      = "there are too many commands before it"
)

// A shell reads commands without running them, and tracks what is certain about their effects.
type shell struct {
	*finder
	text   *Text
	script string // the script being read; "" in the text itself
	source string // the text being read

	dir        string
	dirUnknown string // why dir is unknown
	known      map[string]string
	functions  map[string]*syntax.Stmt
	ran        map[string]bool // functions that were called
	depth      int
	events     []event
}

func (s *shell) run(source string) {
	s.source = source
	file, err := Parse(source)
	if err != nil {
		if s.mentions(source) {
			s.add(Call{Line: s.line(1), Unclear: err.Error()})
		}
		return
	}
	s.statements(file.Stmts, "")
	if s.steps < 0 && s.mentions(source) {
		s.add(Call{Line: s.line(1), Unclear: tooMany})
	}
}

// The limits of a text that is parsed: its length, and the number of opening brackets and keywords. The latter bounds
// the nesting depth, and so the parser's recursion.
const (
	maxShell  = 64 << 10
	maxNested = 4000
)

var (
	errLong   = errors.New("the text around it is too long")
	errNested = errors.New("the text around it has too many brackets")
)

// nests matches what may open a nested construct.
var nests = lazy.Regexp("[({\\[`!?]|<<|\\b(if|elif|case|while|for|until|select|function|time|coproc)\\b")

// Parse parses shell text. It refuses text that would take much time or memory.
func Parse(text string) (*syntax.File, error) {
	if len(text) > maxShell {
		return nil, errLong
	}
	if len(nests().FindAllStringIndex(text, maxNested+1)) > maxNested {
		return nil, errNested
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("it is not a valid shell command: %w", err)
	}
	return file, nil
}

// mentions reports whether a text may contain a call.
func (s *shell) mentions(text string) bool {
	return s.program.Name != "" && strings.Contains(text, s.program.Name) || s.program.Variable != "" && strings.Contains(text, s.program.Variable)
}

// statements reads statements in sequence. Unclear, if not "", says why calls in them are unclear.
func (s *shell) statements(all []*syntax.Stmt, unclear string) {
	for _, stmt := range all {
		s.statement(stmt, unclear)
	}
}

func (s *shell) statement(stmt *syntax.Stmt, unclear string) {
	if s.steps--; s.steps < 0 {
		return
	}
	if stmt.Background || stmt.Negated {
		unclear = inLarger
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		s.command(stmt, cmd, unclear)
	case *syntax.DeclClause:
		s.assign(cmd.Args)
	case *syntax.FuncDecl:
		if cmd.Name != nil {
			s.functions[cmd.Name.Value] = cmd.Body
		}
	case *syntax.Block:
		s.statements(cmd.Stmts, s.unclearInBrackets(stmt, unclear))
	case *syntax.Subshell:
		inner := s.copy()
		inner.statements(cmd.Stmts, s.unclearInBrackets(stmt, unclear))
		s.events = inner.events
	case *syntax.BinaryCmd:
		s.binary(stmt, cmd, unclear)
	case nil, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
	default:
		s.compound(stmt)
	}
}

// unclearInBrackets returns why calls inside brackets are unclear, or "".
func (s *shell) unclearInBrackets(stmt *syntax.Stmt, unclear string) string {
	if len(stmt.Redirs) > 0 {
		return inLarger
	}
	return unclear
}

// copy returns a subshell: it starts with the same state and keeps its changes to itself.
func (s *shell) copy() *shell {
	s.steps -= len(s.known) // counts the copying, which nested brackets repeat
	inner := *s
	inner.known, inner.functions = maps.Clone(s.known), maps.Clone(s.functions)
	return &inner
}

// binary reads a pipe or a chain. A part certainly runs only after && of commands that are not tests.
func (s *shell) binary(stmt *syntax.Stmt, cmd *syntax.BinaryCmd, unclear string) {
	if cmd.Op == syntax.Pipe && s.program.Filter {
		s.pipe(cmd, unclear)
		return
	}
	if cmd.Op != syntax.AndStmt || len(stmt.Redirs) > 0 {
		s.compound(stmt)
		return
	}
	for _, part := range chained(stmt) {
		s.statement(part, unclear)
		if tests(part) {
			unclear = inLarger
		}
	}
}

// chained returns the parts of a chain of &&, in order. The parser nests them.
func chained(stmt *syntax.Stmt) (parts []*syntax.Stmt) {
	cmd, is := stmt.Cmd.(*syntax.BinaryCmd)
	for is && cmd.Op == syntax.AndStmt && len(stmt.Redirs) == 0 {
		parts, stmt = append(parts, cmd.Y), cmd.X
		cmd, is = stmt.Cmd.(*syntax.BinaryCmd)
	}
	parts = append(parts, stmt)
	slices.Reverse(parts)
	return parts
}

// pipe reads a pipe of two parts. Calls in either part are clear.
func (s *shell) pipe(cmd *syntax.BinaryCmd, unclear string) {
	first := len(s.events)
	inner := s.copy()
	inner.statement(cmd.X, unclear)
	s.events = inner.events
	calls := s.events[first:]
	inner = s.copy()
	inner.statement(cmd.Y, unclear)
	s.events = inner.events
	next, ok := cmd.Y.Cmd.(*syntax.CallExpr)
	if !ok || len(next.Args) == 0 {
		return
	}
	program := path.Base(s.word(next.Args[0]))
	for _, e := range calls {
		if e.call != nil {
			e.call.Into = append(e.call.Into, program)
		}
	}
	if from, ok := cmd.X.Cmd.(*syntax.CallExpr); ok && len(from.Args) > 1 && slices.Contains(printers, from.Args[0].Lit()) {
		s.recordOutputUse(from, program)
	}
}

var printers = []string{"echo", "printf"}

// recordOutputUse records that program receives the output in the variables that node refers to.
func (s *shell) recordOutputUse(node syntax.Node, program string) {
	syntax.Walk(node, func(node syntax.Node) bool {
		p, is := node.(*syntax.ParamExp)
		for _, call := range s.kept {
			if is && p.Param != nil && p.Param.Value == call.Kept {
				call.Kept, call.Into = "", append(call.Into, program)
			}
		}
		return true
	})
}

// substituted reads $(…) in an assignment and in the arguments of echo. A variable keeps the output until a command
// uses it.
func (s *shell) substituted(cmd *syntax.CallExpr) {
	if !s.program.Filter || s.depth >= maxDepth {
		return
	}
	within := func(node syntax.Node, variable string) {
		syntax.Walk(node, func(node syntax.Node) bool {
			of, is := node.(*syntax.CmdSubst)
			if !is {
				return true
			}
			inner := s.copy()
			inner.depth++
			inner.events = nil
			inner.statements(of.Stmts, "")
			for _, e := range inner.events {
				if e.call == nil || len(s.kept) == maxKept {
					continue
				}
				if e.call.Kept = variable; variable != "" {
					s.kept = append(s.kept, e.call)
				}
				s.events = append(s.events, e)
			}
			return false
		})
	}
	for _, a := range cmd.Assigns {
		if a.Name != nil && a.Value != nil && len(cmd.Args) == 0 {
			within(a.Value, a.Name.Value)
		}
	}
	if len(cmd.Args) > 1 && slices.Contains(printers, cmd.Args[0].Lit()) {
		for _, word := range cmd.Args[1:] {
			within(word, "")
		}
	}
}

// tests reports whether a statement may be a test, which decides whether the rest runs.
func tests(stmt *syntax.Stmt) bool {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.TestClause:
		return true
	case *syntax.BinaryCmd:
		return tests(cmd.X) || tests(cmd.Y)
	case *syntax.CallExpr:
		return len(cmd.Args) > 0 && slices.Contains([]string{"test", "[", "which", "command", "grep"}, cmd.Args[0].Lit())
	}
	return stmt.Negated
}

// compound reads a loop, a condition or another construct. Its calls are unclear, and variables and folders that it
// changes become unknown.
func (s *shell) compound(stmt *syntax.Stmt) {
	var words []*syntax.Word
	inner := s.copy()
	inner.events = nil
	syntax.Walk(stmt, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				inner.known[n.Name.Value] = Unknown
				s.known[n.Name.Value] = Unknown
			}
		case *syntax.CmdSubst:
			return !s.program.Filter // substituted reads it
		case *syntax.WordIter:
			inner.known[n.Name.Value] = Unknown
			words = append(words, n.Items...)
		case *syntax.Stmt:
			if s.steps--; s.steps < 0 {
				return false
			}
			switch cmd := n.Cmd.(type) {
			case *syntax.CallExpr:
				inner.command(n, cmd, inLarger)
			case *syntax.BinaryCmd:
				if cmd.Op == syntax.Pipe && s.program.Filter {
					inner.pipe(cmd, inLarger)
					return false
				}
			}
		}
		return true
	})
	items := s.placesOf(s.words(words))
	for _, e := range inner.events {
		if e.call == nil && e.step.anywhere && len(items) > 0 { // the loop's items
			e.step.anywhere, e.step.places = false, append(e.step.places, items...)
		}
		s.events = append(s.events, e)
	}
	if inner.dir != s.dir || inner.dirUnknown != s.dirUnknown {
		s.dirUnknown = unknownDir
	}
}

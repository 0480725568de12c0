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

// Why a call cannot be followed.
const (
	inLarger     = "it is part of a larger shell command"
	unknownWord  = "an argument depends on a value that only make or the shell knows"
	unknownDir   = "its folder depends on what only make or the shell know"
	outsideDir   = "its folder is outside of the project"
	severalDirs  = "cd has not one folder"
	throughOther = "another program runs it"
	tooMany      = "there are too many commands before it"
)

// A shell goes through commands without running them, as far as it is plain what they do.
type shell struct {
	*finder
	text   *Text
	script string // the file that is read in place of a command of the text; "" in the text itself
	source string // what is read

	dir       string
	lost      string // why dir is not known
	known     map[string]string
	functions map[string]*syntax.Stmt
	ran       map[string]bool // functions that were gone through
	depth     int
	events    []event
}

// run goes through a script.
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

// The limits of a text that is parsed: how long it is, and how often something begins in which there may be more, which
// it cannot be nested deeper than. The parser calls itself for each in another.
const (
	maxShell  = 64 << 10
	maxNested = 4000
)

var (
	errLong   = errors.New("the text around it is too long")
	errNested = errors.New("the text around it has too many brackets")
)

// nests matches what may begin something in which there is more.
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

// mentions reports whether a text may have a call.
func (s *shell) mentions(text string) bool {
	return s.program.Name != "" && strings.Contains(text, s.program.Name) || s.program.Variable != "" && strings.Contains(text, s.program.Variable)
}

// statements goes through statements in turn. Unclear is why calls among them are not.
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
		s.statements(cmd.Stmts, s.around(stmt, unclear))
	case *syntax.Subshell:
		inner := s.copy()
		inner.statements(cmd.Stmts, s.around(stmt, unclear))
		s.events = inner.events
	case *syntax.BinaryCmd:
		s.binary(stmt, cmd, unclear)
	case nil, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
	default:
		s.compound(stmt)
	}
}

// around is why what is in brackets is not clear.
func (s *shell) around(stmt *syntax.Stmt, unclear string) string {
	if len(stmt.Redirs) > 0 {
		return inLarger
	}
	return unclear
}

// copy is a shell that begins as this one is, and keeps what it changes for itself.
func (s *shell) copy() *shell {
	s.steps -= len(s.known) // brackets in one another would have ever more of them
	inner := *s
	inner.known, inner.functions = maps.Clone(s.known), maps.Clone(s.functions)
	return &inner
}

// binary goes through a pipe or a chain. A part runs for certain only if all of the chain before it is && without
// tests.
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

// chained are the parts of a chain of &&, which the parser nests in one another.
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

// pipe goes through a pipe, whose parts are clear by themselves.
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
		s.handOn(from, program)
	}
}

// printers print their arguments.
var printers = []string{"echo", "printf"}

// handOn notes the program that gets the output which variables within a node keep.
func (s *shell) handOn(node syntax.Node, program string) {
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

// substituted goes through $(…) in an assignment, or in what echo prints: a variable keeps the output until it is
// handed on.
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

// tests reports whether a statement asks whether something is so.
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

// compound goes through a loop, a condition or a pipe: its calls are not clear, and what it changes is not known after.
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
			return !s.program.Filter // substituted goes through it
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
		if e.call == nil && e.step.anywhere && len(items) > 0 { // it goes through these
			e.step.anywhere, e.step.places = false, append(e.step.places, items...)
		}
		s.events = append(s.events, e)
	}
	if inner.dir != s.dir || inner.lost != s.lost {
		s.lost = unknownDir
	}
}

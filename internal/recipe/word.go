package recipe

import (
	"io/fs"
	"path"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// VersionPattern is a regular expression for the version of a module.
const VersionPattern = `v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?\b`

// versioned matches the version suffix of a program's file name.
var versioned = lazy.Regexp(`^-` + VersionPattern + `$`)

// The limits of one expanded word and of all words together, in bytes.
const (
	maxWord  = 64 << 10
	maxWords = 16 << 20
)

// words returns the values of words, with [Unknown] for what only the shell knows.
func (s *shell) words(all []*syntax.Word) []string {
	texts := make([]string, len(all))
	for i, word := range all {
		texts[i] = s.word(word)
	}
	return texts
}

func (s *shell) word(word *syntax.Word) string {
	text := s.parts(word.Parts, false)
	if s.bytes += len(text); len(text) > maxWord || s.bytes > maxWords {
		return Unknown
	}
	return text
}

func (s *shell) parts(parts []syntax.WordPart, quoted bool) string {
	var b strings.Builder
	for _, part := range parts {
		if b.Len() > maxWord {
			return Unknown
		}
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, quoted))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(s.parts(p.Parts, true))
		case *syntax.ParamExp:
			b.WriteString(s.parameter(p, quoted))
		case *syntax.CmdSubst:
			b.WriteString(s.output(p.Stmts))
		default:
			b.WriteString(Unknown)
		}
	}
	return b.String()
}

// environment returns the known variables that a command sets for the program. Before holds the words before the
// program, such as env's.
func (s *shell) environment(stmt *syntax.Stmt, before []string) (env []string) {
	cmd, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	var pairs []string
	for _, a := range cmd.Assigns {
		if a.Name != nil && a.Value != nil && !a.Append {
			pairs = append(pairs, a.Name.Value+"="+s.word(a.Value))
		}
	}
	if len(before) > 0 && before[0] == "env" {
		pairs = append(pairs, before[1:]...)
	}
	for _, pair := range pairs {
		if strings.Contains(pair, "=") && !strings.Contains(pair, Unknown) {
			env = append(env, pair)
		}
	}
	return env
}

// unescape removes the backslashes that quote single characters.
func unescape(text string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// parameter returns the value of $NAME, ${NAME} or ${NAME:-default}. Unless quoted, a value of several words is
// [Unknown].
func (s *shell) parameter(p *syntax.ParamExp, quoted bool) string {
	if p.Param == nil || p.Excl || p.Length || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return Unknown
	}
	name := p.Param.Value
	value, known := s.known[name]
	switch {
	case name == s.program.Variable:
		return s.program.Name
	case name == "0" || name == "BASH_SOURCE":
		if s.script == "" {
			return Unknown
		}
		return Root + "/" + s.script
	case p.Index != nil:
		return Unknown
	case name == "PWD":
		return s.here()
	case p.Exp != nil:
		usual := p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.AssignUnsetOrNull || p.Exp.Op == syntax.AssignUnset
		if !usual || p.Exp.Word == nil {
			return Unknown
		}
		if !known {
			value, known = s.word(p.Exp.Word), true
		}
	}
	if !known || !quoted && strings.ContainsAny(value, " \t\n*?[") {
		return Unknown
	}
	return value
}

// here returns the absolute path of the working folder.
func (s *shell) here() string {
	if s.dirUnknown != "" {
		return Unknown
	}
	return rooted(s.dir)
}

// output returns what $(…) expands to, for the few commands that name a place: $(cd hack && pwd), $(dirname "$0"),
// $(git rev-parse --show-toplevel).
func (s *shell) output(stmts []*syntax.Stmt) string {
	if s.depth >= maxDepth {
		return Unknown
	}
	inner := s.copy()
	inner.depth++
	var last []string
	for _, cmd := range sequence(stmts) {
		if cmd == nil || len(cmd.Args) == 0 {
			return Unknown
		}
		if last = inner.words(cmd.Args); last[0] == "cd" {
			inner.changeDir(last[1:])
			last = nil
		}
	}
	return inner.printed(last)
}

// printed returns what a command prints, or [Unknown].
func (s *shell) printed(words []string) string {
	line := strings.Join(words, " ")
	switch {
	case line == "pwd" || line == "pwd -P":
		return s.here()
	case line == "date +%Y":
		return Year()
	case strings.HasPrefix(line, "mktemp"):
		return "/tmp" // outside the project
	case line == "git rev-parse --show-toplevel" && s.files != nil:
		if _, err := fs.Stat(s.files, ".git"); err == nil {
			return Root
		}
	case len(words) > 1 && (words[0] == "dirname" || words[0] == "realpath" || words[0] == "readlink"):
		rel, ok := Below(s.dir, words[len(words)-1])
		if !ok || s.dirUnknown != "" || strings.Contains(line, Unknown) {
			return Unknown
		}
		if words[0] == "dirname" {
			rel = path.Dir(rel)
		}
		return rooted(rel)
	}
	return Unknown
}

// sequence returns the simple commands that run in sequence, with nil for any other command.
func sequence(stmts []*syntax.Stmt) (all []*syntax.CallExpr) {
	for _, stmt := range stmts {
		chain, ok := stmt.Cmd.(*syntax.BinaryCmd)
		if ok && chain.Op == syntax.AndStmt {
			all = append(all, sequence([]*syntax.Stmt{chain.X, chain.Y})...)
			continue
		}
		cmd, _ := stmt.Cmd.(*syntax.CallExpr)
		all = append(all, cmd)
	}
	return all
}

// Year returns the current year, as date +%Y prints it for the headers of generated files.
func Year() string { return time.Now().Format("2006") }

// Flag returns the value of a flag, in the syntax of the go command.
func Flag(words []string, name string) (value string, found bool) {
	for i, word := range words {
		bare := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		switch {
		case bare == word:
		case bare == name && i+1 < len(words):
			return words[i+1], true
		case strings.HasPrefix(bare, name+"="):
			return strings.TrimPrefix(bare, name+"="), true
		}
	}
	return "", false
}

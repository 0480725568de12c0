package recipe

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"mvdan.cc/sh/v3/syntax"
)

// command handles a simple command.
func (s *shell) command(stmt *syntax.Stmt, cmd *syntax.CallExpr, unclear string) {
	s.substituted(cmd)
	if len(cmd.Args) == 0 {
		s.assign(cmd.Assigns)
		return
	}
	words := s.words(cmd.Args)
	for _, r := range stmt.Redirs {
		if r.Op == syntax.WordHdoc {
			s.recordOutputUse(r.Word, path.Base(words[0]))
		}
	}
	switch name := words[0]; {
	case name == "cd" || name == "pushd":
		s.changeDir(words[1:])
	case name == "popd":
		s.dirUnknown = unknownDir
	case s.functions[name] != nil && s.depth < maxDepth:
		s.ran[name] = true
		s.depth++
		s.statement(s.functions[name], unclear)
		s.depth--
	case s.called(stmt, words, unclear):
	default:
		s.nonCall(stmt, words, unclear)
	}
}

// nonCall handles a command that is no call of the program: it reads a script that the command runs, or adds a step.
func (s *shell) nonCall(stmt *syntax.Stmt, words []string, unclear string) {
	inner, _ := s.follow(words)
	if slices.ContainsFunc(inner, func(e event) bool { return e.call != nil }) {
		for _, e := range inner {
			e.markUnclear(unclear)
		}
		s.events = append(s.events, inner...)
		return
	}
	step := s.step(stmt, words)
	for _, e := range inner {
		step.places, step.anywhere = append(step.places, e.step.places...), step.anywhere || e.step.anywhere
		step.edits = step.edits || e.step.edits
	}
	s.events = append(s.events, event{step: step})
}

// markUnclear makes the event's call, if any, unclear.
func (e event) markUnclear(unclear string) {
	if e.call != nil && e.call.Unclear == "" && unclear != "" {
		e.call.Unclear, e.call.Arguments, e.call.Dir = unclear, nil, ""
	}
}

// called adds a call if the command is one of the program.
func (s *shell) called(stmt *syntax.Stmt, words []string, unclear string) bool {
	at := slices.IndexFunc(words, s.isProgram)
	if at < 0 {
		return false
	}
	arguments, dir, lost := words[at+1:], s.dir, s.dirUnknown
	switch {
	case at == 0:
	case goRuns(words[:at]):
		if changed, ok := Flag(words[:at], "C"); ok && lost == "" {
			dir, lost = moved(dir, changed)
		}
	case runsNext(words[:at]):
	case slices.ContainsFunc(arguments, func(word string) bool { return strings.HasPrefix(word, "paths=") }):
		unclear = throughOther
	default:
		return false
	}
	if len(arguments) == 1 && slices.Contains([]string{"--version", "--help", "-h"}, arguments[0]) {
		return true
	}
	if unclear == "" && slices.ContainsFunc(arguments, func(word string) bool { return strings.Contains(word, Unknown) }) {
		unclear = unknownWord
	}
	switch {
	case s.program.Filter:
		unclear = ""
	case len(stmt.Redirs) > 0:
		unclear = inLarger
	}
	call := Call{Env: s.environment(stmt, words[:at]), Line: s.line(stmt.Pos().Line()), Dir: dir, Unclear: unclear, Version: s.version(words, at)}
	if call.Unclear == "" {
		call.Unclear = lost
	}
	if call.Unclear == "" {
		for _, word := range arguments {
			call.Arguments = append(call.Arguments, fromRoot(word, dir))
		}
	} else {
		call.Dir = ""
	}
	if s.program.Filter {
		call.Writes = s.placesOf(append(s.redirected(stmt), outputsOf(arguments)...))
	}
	s.add(call)
	return true
}

// version returns the version of the program at words[at]: behind its @, or in the go.mod that the command uses.
func (s *shell) version(words []string, at int) string {
	if _, version, is := strings.Cut(words[at], "@"); is && semver.IsValid(version) {
		return version
	}
	if s.files == nil || s.dirUnknown != "" || at == 0 || !buildsUnversioned(words, s.program.Name, s.program.Package) {
		return ""
	}
	return requirement(s.files, goModFor(s.dir, words), requiredIn(s.program.Package))
}

func (s *shell) add(call Call) {
	call.File, call.Target, call.Command = s.file(), s.text.Target, s.text.Command
	s.events = append(s.events, event{call: &call})
}

// file returns the file being read: a script, or the file of the text.
func (s *shell) file() string {
	if s.script != "" {
		return s.script
	}
	return s.text.File
}

func (s *shell) line(number uint) int {
	if s.script != "" {
		return int(number)
	}
	return s.text.Line + int(number) - 1
}

// isProgram reports whether a word is the program: by name, by name and version, or by Go package.
func (s *shell) isProgram(word string) bool {
	word, _, _ = strings.Cut(word, "@")
	rest, is := strings.CutPrefix(path.Base(word), s.program.Name)
	if s.program.Package != "" && withoutMajor(word) == withoutMajor(s.program.Package) {
		return true
	}
	return is && s.program.Name != "" && (rest == "" || versioned().MatchString(rest))
}

// withoutMajor removes the major version suffix from a package path.
func withoutMajor(pkg string) string {
	if prefix, _, ok := module.SplitPathVersion(pkg); ok {
		return prefix
	}
	return pkg
}

// goRuns reports whether these words before a program's name make the go command run it: go run, or go tool.
func goRuns(words []string) bool {
	return path.Base(words[0]) == "go" && (slices.Contains(words[1:], "run") || slices.Contains(words[1:], "tool"))
}

// runsNext reports whether the words run the command after them in the same folder.
func runsNext(words []string) bool {
	switch words[0] {
	case "exec", "time", "command":
		return len(words) == 1
	case "env":
		return !slices.ContainsFunc(words[1:], func(word string) bool { return !strings.Contains(word, "=") })
	case "mise":
		return words[len(words)-1] == "--"
	}
	return false
}

func (s *shell) changeDir(arguments []string) {
	arguments = slices.DeleteFunc(arguments, func(word string) bool { return word == "--" })
	switch {
	case len(arguments) != 1:
		s.dirUnknown = severalDirs
	case s.dirUnknown != "" && !strings.HasPrefix(arguments[0], Root):
	default:
		s.dir, s.dirUnknown = moved(s.dir, arguments[0])
	}
}

// moved returns the folder that cd name leads to from dir, or why that is unknown.
func moved(dir, name string) (there, lost string) {
	if strings.Contains(name, Unknown) || strings.ContainsAny(name, "*?[{") {
		return "", unknownDir
	}
	rel, ok := Below(dir, name)
	if !ok || name == "" || strings.HasPrefix(name, "-") {
		return "", outsideDir
	}
	return folder(rel), ""
}

// assign records the values of variables.
func (s *shell) assign(all []*syntax.Assign) {
	for _, a := range all {
		switch {
		case a.Name == nil || a.Naked:
		case a.Append || a.Index != nil || a.Array != nil:
			s.known[a.Name.Value] = Unknown
		case a.Value == nil:
			s.known[a.Name.Value] = ""
		default:
			s.known[a.Name.Value] = s.word(a.Value)
		}
	}
}

package recipe

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// A Step is a command of a recipe that may write files.
type Step struct {
	File string
	Line int
	Text string // as the shell would run it; where only make knows that, as it stands in the file

	places   []string // the files, folders and patterns that it may change, as far as it names them
	edits    bool     // it changes files where they are
	anywhere bool     // it may change any: a name among its words is not known
	unread   bool     // a program that names none
	removed  []string
	words    []string // of the command
	dir      string   // where it runs
	lost     bool     // that is not known
}

// Changes are the files of a folder that the step changes, as far as its words name what it works on, as patterns of
// paths.
func (s Step) Changes(folder string) (patterns []string) {
	all := path.Join(folder, "*.yaml")
	if s.anywhere {
		return []string{all}
	}
	for _, place := range s.places {
		switch {
		case covers(place, folder):
			return []string{all}
		case covers(folder, place):
			patterns = append(patterns, place)
		}
	}
	return patterns
}

// Edited are the places among those that match which the step changes, if it is one that edits files. Other programs
// that are given the folder of Go code read it.
func (s Step) Edited(match func(place string) bool) (places []string) {
	for _, place := range s.places {
		if (s.edits || path.Ext(place) == ".go") && match(place) {
			places = append(places, place)
		}
	}
	return places
}

// covers reports whether a pattern matches a path or a folder that it is in.
func covers(pattern, name string) bool {
	if pattern == "." {
		return true
	}
	for ; name != "."; name = path.Dir(name) {
		if matched, err := path.Match(pattern, name); matched && err == nil || pattern == name {
			return true
		}
	}
	return false
}

// What commands do with the files that they name. One that is in none of these lists may change them all.
var (
	// readers write to where the shell sends their output, and nowhere else, or change no content.
	readers = []string{"echo", "printf", "true", "false", ":", "exit", "return", "set", "unset", "shift", "trap", "read", "test", "[", "cat", "ls", "grep",
		"diff", "cmp", "head", "tail", "wc", "sort", "tr", "jq", "awk", "mkdir", "touch", "which", "command", "type", "chmod", "kustomize", "sleep", "wait", "eval", "shopt"}
	// copiers write to the last of their words.
	copiers = []string{"cp", "install", "ln"}
	// editors change the files that they name.
	editors = []string{"sed", "yq", "perl", "xargs", "find", "mv", "rm", "addlicense", "prettier", "gofmt", "goimports", "patch"}
	// inPlace are the options without which some of the editors only print.
	inPlace = map[string][]string{"sed": {"-i", "--in-place"}, "yq": {"-i", "--inplace"}, "perl": {"-i", "-pi"}, "find": {"-exec", "-delete", "-execdir"}}
	// goReads are the verbs of go and git that change no generated file: those that format Go code leave it as it is.
	goReads = []string{"fmt", "vet", "build", "mod", "list", "install", "test", "get", "env", "version", "diff", "status", "add", "rev-parse", "log"}
)

// step is a command that is no call.
func (s *shell) step(stmt *syntax.Stmt, words []string) Step {
	step := Step{File: s.file(), Line: s.line(stmt.Pos().Line()), words: words, dir: s.dir, lost: s.lost != ""}
	text := s.source[stmt.Pos().Offset():min(int(stmt.End().Offset()), len(s.source))]
	step.Text = strings.TrimRight(s.text.shown(text), "; ")
	name, arguments := path.Base(words[0]), words[1:]
	written := s.redirected(stmt)
	verb := slices.IndexFunc(arguments, func(a string) bool { return !strings.HasPrefix(a, "-") })
	reads := slices.Contains(readers, name) || (name == "go" || name == "git") && verb >= 0 && slices.Contains(goReads, arguments[verb])
	if options, has := inPlace[name]; has && !slices.ContainsFunc(arguments, func(a string) bool {
		return slices.ContainsFunc(options, func(o string) bool { return a == o || len(o) == 2 && strings.HasPrefix(a, o+".") })
	}) {
		reads = true
	}
	step.edits = slices.Contains(editors, name)
	switch outputs := outputsOf(arguments); {
	case reads:
	case slices.Contains(copiers, name) && len(arguments) > 0:
		written, step.edits = append(written, arguments[len(arguments)-1]), true
	case len(written) > 0 && !step.edits:
	case len(outputs) > 0 && !step.edits:
		written = outputs
	default:
		step.unread = true
		written = append(written, named(arguments)...)
	}
	step.anywhere = slices.ContainsFunc(written, func(word string) bool { return strings.Contains(word, Unknown) })
	step.places = s.placesOf(written)
	if name == "rm" {
		step.removed = s.removed(arguments)
	}
	return step
}

// redirected are the files to which the shell sends a command's output.
func (s *shell) redirected(stmt *syntax.Stmt) (written []string) {
	for _, r := range stmt.Redirs {
		if target := s.word(r.Word); slices.Contains([]syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll}, r.Op) && target != "/dev/null" {
			written = append(written, target)
		}
	}
	return written
}

// outputsOf are the values of options that say where a command writes.
func outputsOf(arguments []string) (values []string) {
	for i, word := range arguments {
		name, value, given := strings.Cut(word, "=")
		bare := strings.ToLower(strings.TrimLeft(name, "-"))
		if bare == name || bare != "o" && !strings.HasPrefix(bare, "out") && !strings.HasSuffix(bare, "output") {
			continue
		}
		if !given && i+1 < len(arguments) {
			value = arguments[i+1]
		}
		if value != "" {
			values = append(values, value)
		}
	}
	return values
}

// named are the words that may name a place, also behind an option's name.
func named(arguments []string) (names []string) {
	for _, word := range arguments {
		if option, value, is := strings.Cut(word, "="); is && strings.HasPrefix(option, "-") {
			word = value
		}
		names = append(names, strings.FieldsFunc(word, func(r rune) bool { return r == ',' || r == ';' || r == ':' })...)
	}
	return names
}

// placesOf are the places in the project that words name.
func (s *shell) placesOf(words []string) (places []string) {
	for _, word := range words {
		word = strings.TrimSuffix(strings.TrimSuffix(word, "..."), "/")
		if word == "" || strings.HasPrefix(word, "-") || strings.Contains(word, Unknown) || s.lost != "" && !strings.HasPrefix(word, Root) {
			continue
		}
		if rel, ok := Below(s.dir, word); ok && !slices.Contains(places, rel) {
			places = append(places, rel)
		}
	}
	return places
}

// removed are the words that name a file of the project as it is: no options, no patterns.
func (s *shell) removed(words []string) (files []string) {
	for _, word := range words {
		if rel, ok := Below(s.dir, word); ok && rel != "." && s.lost == "" && !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "*?[{~"+Unknown) && fs.ValidPath(rel) {
			files = append(files, rel)
		}
	}
	return files
}

// follow goes through a script of the project that a command runs, or through the text of sh -c: its commands, if that
// is what it is.
func (s *shell) follow(words []string) (events []event, is bool) {
	if base := path.Base(words[0]); base == "bash" || base == "sh" || base == "." || base == "source" {
		words = words[1:]
		for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
			option := words[0]
			if words = words[1:]; strings.HasSuffix(option, "c") && len(words) > 0 && !strings.Contains(words[0], Unknown) {
				return s.inner(words[0])
			}
		}
	} else if !strings.Contains(words[0], "/") {
		return nil, false
	}
	if len(words) == 0 || s.files == nil || s.lost != "" && !strings.HasPrefix(words[0], Root) || strings.Contains(words[0], Unknown) {
		return nil, false
	}
	file, ok := Below(s.dir, words[0])
	if !ok || s.depth >= maxDepth || s.scripts == 0 {
		return nil, false
	}
	return s.readScript(file, words[1:])
}

// inner goes through the text of sh -c, whose variables are its own.
func (s *shell) inner(source string) ([]event, bool) {
	if s.depth >= maxDepth {
		return nil, false
	}
	inner := s.copy()
	inner.depth++
	inner.events, inner.functions = nil, map[string]*syntax.Stmt{}
	inner.run(source)
	return inner.events, true
}

// shebang matches the first line of a shell's script.
var shebang = lazy.Regexp(`^#!.*\b(?:ba|da|k|z)?sh\b`)

// readScript goes through a file. One that no shell reads is a program as any other; if it may call ours, that call is
// not clear.
func (s *shell) readScript(file string, arguments []string) ([]event, bool) {
	content, err := Read(s.files, file)
	if err != nil || slices.Contains(content, 0) || s.reading[file] {
		return nil, false
	}
	s.scripts--
	s.reading[file] = true
	defer delete(s.reading, file)
	inner := s.copy()
	inner.depth++
	inner.script, inner.events = file, nil
	inner.known, inner.functions, inner.ran = map[string]string{}, map[string]*syntax.Stmt{}, map[string]bool{}
	for i, word := range arguments {
		inner.known[strconv.Itoa(i+1)] = word
	}
	text := string(content)
	first, _, _ := strings.Cut(text, "\n")
	switch script := shebang().MatchString(first); {
	case script, !strings.HasPrefix(first, "#!") && slices.Contains([]string{".sh", ".bash"}, path.Ext(file)):
		inner.run(text)
		inner.unused()
	case inner.mentions(text):
		before, _, _ := strings.Cut(text, s.program.Name)
		inner.add(Call{Line: 1 + strings.Count(before, "\n"), Unclear: "no shell reads the script that it is in"})
	default:
		return nil, false
	}
	return inner.events, true
}

// unused adds what functions call that the script defines, and that none of its commands runs: another script may.
func (s *shell) unused() {
	for _, name := range slices.Sorted(maps.Keys(s.functions)) {
		body := s.functions[name]
		if s.ran[name] || !s.mentions(s.source[body.Pos().Offset():body.End().Offset()]) {
			continue
		}
		inner := s.copy()
		inner.events = nil
		inner.statement(body, "it is in the function "+name+", which the script itself does not run")
		for _, e := range inner.events {
			if e.call != nil {
				s.events = append(s.events, e)
			}
		}
	}
}

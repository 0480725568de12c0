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
	Text string // as the shell runs it; as in the file if only make knows that

	places   []string // named files, folders and patterns that it may change
	edits    bool     // changes files in place
	anywhere bool     // may change any file: one of its words is unknown
	unread   bool     // an unknown program, whose words may be what it changes
	removed  []string
	words    []string // of the command
	dir      string
	lost     bool // dir is unknown
}

// Changes returns path patterns for the files of a folder that the step may change.
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

// Edited returns the places of the step that match. Only editors and .go files count: other programs that get a folder
// of Go code only read it.
func (s Step) Edited(match func(place string) bool) (places []string) {
	for _, place := range s.places {
		if (s.edits || path.Ext(place) == ".go") && match(place) {
			places = append(places, place)
		}
	}
	return places
}

// covers reports whether a pattern matches a path or a folder that contains it.
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

// The effects of known commands on the files that they name. Any other command may change them all.
var (
	// readers write only to standard output, or change no content.
	readers = []string{"echo", "printf", "true", "false", ":", "exit", "return", "set", "unset", "shift", "trap", "read", "test", "[", "cat", "ls", "grep",
		"diff", "cmp", "head", "tail", "wc", "sort", "tr", "jq", "awk", "mkdir", "touch", "which", "command", "type", "chmod", "kustomize", "sleep", "wait", "eval", "shopt"}
	// copiers write to their last argument.
	copiers = []string{"cp", "install", "ln"}
	// editors change the files that they name.
	editors = []string{"sed", "yq", "perl", "xargs", "find", "mv", "rm", "addlicense", "prettier", "gofmt", "goimports", "patch"}
	// inPlace are the options without which an editor only prints.
	inPlace = map[string][]string{"sed": {"-i", "--in-place"}, "yq": {"-i", "--inplace"}, "perl": {"-i", "-pi"}, "find": {"-exec", "-delete", "-execdir"}}
	// goReads are the subcommands of go and git that change no generated file. Generated Go code is formatted already.
	goReads = []string{"fmt", "vet", "build", "mod", "list", "install", "test", "get", "env", "version", "diff", "status", "add", "rev-parse", "log"}
)

// step describes a command that is no call of the program.
func (s *shell) step(stmt *syntax.Stmt, words []string) Step {
	step := Step{File: s.file(), Line: s.line(stmt.Pos().Line()), words: words, dir: s.dir, lost: s.dirUnknown != ""}
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

// redirected returns the files that a command's output is redirected to.
func (s *shell) redirected(stmt *syntax.Stmt) (written []string) {
	for _, r := range stmt.Redirs {
		if target := s.word(r.Word); slices.Contains([]syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll}, r.Op) && target != "/dev/null" {
			written = append(written, target)
		}
	}
	return written
}

// outputsOf returns the values of options that name outputs, such as -o and --output-dir.
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

// named returns the words that may name a place, including options' values.
func named(arguments []string) (names []string) {
	for _, word := range arguments {
		if option, value, is := strings.Cut(word, "="); is && strings.HasPrefix(option, "-") {
			word = value
		}
		names = append(names, strings.FieldsFunc(word, func(r rune) bool { return r == ',' || r == ';' || r == ':' })...)
	}
	return names
}

// placesOf returns the places in the project that words name.
func (s *shell) placesOf(words []string) (places []string) {
	for _, word := range words {
		word = strings.TrimSuffix(strings.TrimSuffix(word, "..."), "/")
		if word == "" || strings.HasPrefix(word, "-") || strings.Contains(word, Unknown) || s.dirUnknown != "" && !strings.HasPrefix(word, Root) {
			continue
		}
		if rel, ok := Below(s.dir, word); ok && !slices.Contains(places, rel) {
			places = append(places, rel)
		}
	}
	return places
}

// removed returns the words that name a single file of the project: no options, no patterns.
func (s *shell) removed(words []string) (files []string) {
	for _, word := range words {
		if rel, ok := Below(s.dir, word); ok && rel != "." && s.dirUnknown == "" && !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "*?[{~"+Unknown) && fs.ValidPath(rel) {
			files = append(files, rel)
		}
	}
	return files
}

// follow reads the script of the project that a command runs, or the text of sh -c. Is is false for other commands.
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
	if len(words) == 0 || s.files == nil || s.dirUnknown != "" && !strings.HasPrefix(words[0], Root) || strings.Contains(words[0], Unknown) {
		return nil, false
	}
	file, ok := Below(s.dir, words[0])
	if !ok || s.depth >= maxDepth || s.scripts == 0 {
		return nil, false
	}
	return s.readScript(file, words[1:])
}

// inner reads the text of sh -c, whose functions are its own.
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

var shebang = lazy.Regexp(`^#!.*\b(?:ba|da|k|z)?sh\b`)

// readScript reads a script. It reports false for other programs. A script in another language that mentions the
// program has an unclear call.
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
		inner.addUncalledFunctions()
	case inner.mentions(text):
		before, _, _ := strings.Cut(text, s.program.Name)
		inner.add(Call{Line: 1 + strings.Count(before, "\n"), Unclear: "no shell reads the script that it is in"})
	default:
		return nil, false
	}
	return inner.events, true
}

// addUncalledFunctions adds the calls in functions that the script defines but does not call. Another script may source
// it.
func (s *shell) addUncalledFunctions() {
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

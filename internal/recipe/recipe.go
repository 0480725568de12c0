// Package recipe finds the calls of a program in the shell text of a project's files, without running any of it.
//
//	calls := recipe.Calls(texts, recipe.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN"}, view)
//	for _, c := range calls {
//		c.File, c.Line, c.Command, c.Dir, c.Arguments, c.Unclear, c.Then
//	}
//
// Each kind of file supplies its texts with its own variables expanded. Package makefile reads Makefiles, [Tasks] reads
// Taskfile.yml, justfile and mise.toml, and [Directives] comments with go:generate. Scripts of the project that a text
// runs are read, too. A call whose arguments or effect are uncertain is never guessed. It has [Call.Unclear] set: for
// example, only the shell knows an argument, or the call is in a loop.
package recipe

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Private-use characters, which do not occur in the files that are read.
const (
	// Unknown stands for text that only make or the shell knows.
	Unknown = "\ue000"
	// Named ends the name of a variable that follows Unknown: the value is that variable's.
	Named = "\ue002"
	// Root stands for the absolute path of the project's folder.
	Root = "\ue001"
)

// A Program identifies the program whose calls are searched for.
type Program struct {
	Name     string // last element of its path
	Variable string // variable that is assumed to hold its path
	Package  string // Go package that it is built from
	// Filter is for programs that read or write streams. It accepts calls with redirected or piped output, calls in a
	// condition, and calls with [Unknown] arguments.
	Filter bool
}

// A Text is shell text in a file.
type Text struct {
	File    string
	Line    int    // of its first line, from 1
	Command string // command line that runs it, such as make manifests
	Target  string // name of its recipe or task in the file
	Group   int    // texts with the same file and group run in sequence
	Dir     string // working folder, slash-separated and relative to the project's; "" is the latter
	Shell   string // with the file's own variables expanded
	Source  string // as in the file

	Optional bool // inside a condition of the file's syntax
}

// A Call is one call of a [Program].
type Call struct {
	File      string
	Line      int    // first line of the command, from 1
	Target    string // name of its recipe or task
	Command   string // command line that runs the recipe
	Dir       string // working folder, slash-separated and relative to the project's; "" is the latter
	Arguments []string
	Version   string // of the program, named by the command or by go.mod; "" if unknown
	// Unclear says why Arguments are unknown; "" if they are known.
	Unclear string
	// Then are the later steps of the recipe that may write files.
	Then []Step
	// Removed are the files that Then deletes by name, slash-separated and relative to the project's folder.
	Removed []string
	Before  []Step   // earlier steps of the recipe that may write files
	Env     []string // NAME=VALUE, set by the command
	// Kept is the shell variable that holds the output and that no command has used. It is set for a [Program.Filter]
	// only.
	Kept string
	Into []string // programs that the output is piped to; only for a [Program.Filter]
	// Writes are the files that receive the output. They are set for a [Program.Filter] only.
	Writes []string
}

// Calls returns the calls of a program in texts, in order. Files is the project's folder, from which it reads scripts
// that texts run; nil reads none.
func Calls(texts []Text, program Program, files fs.FS) []Call {
	f := &finder{program: program, files: files, scripts: maxScripts, steps: maxSteps, reading: map[string]bool{}}
	var calls []Call
	for len(texts) > 0 {
		first := texts[0]
		n := slices.IndexFunc(texts, func(t Text) bool { return t.File != first.File || t.Group != first.Group })
		if n < 0 {
			n = len(texts)
		}
		var events []event
		for i := range texts[:n] {
			events = append(events, f.text(&texts[i])...)
		}
		calls = append(calls, withSteps(events)...)
		texts = texts[n:]
	}
	return calls
}

// withSteps returns the calls in a recipe, each with the steps before and after it. The calls share one array of steps.
func withSteps(events []event) (calls []Call) {
	var steps []Step
	var removed []string
	gone := []int{0} // gone[i] is the number of files that the first i steps remove
	for _, e := range events {
		if e.writes() {
			steps, removed = append(steps, e.step), append(removed, e.step.removed...)
			gone = append(gone, len(removed))
		}
	}
	steps, removed = slices.Clip(steps), slices.Clip(removed)
	before := 0
	for _, e := range events {
		if e.writes() {
			before++
		}
		if e.call == nil {
			continue
		}
		if before > 0 {
			e.call.Before = steps[:before:before]
		}
		if before < len(steps) {
			e.call.Then = steps[before:]
		}
		if gone[before] < len(removed) {
			e.call.Removed = removed[gone[before]:]
		}
		calls = append(calls, *e.call)
	}
	return calls
}

// The limits of one search: the number of scripts, the size of a file, the nesting depth and the number of commands.
const (
	maxScripts = 100
	maxFile    = 1 << 20
	maxDepth   = 8
	maxSteps   = 1 << 17
	maxKept    = 100 // calls whose output is in variables
)

// An event is a command of a recipe: a call of the program, or a step.
type event struct {
	call *Call
	step Step
}

// writes reports whether the event is a step that may write files.
func (e event) writes() bool {
	return e.call == nil && (len(e.step.places) > 0 || e.step.anywhere || e.step.unread)
}

// finder finds the calls in texts.
type finder struct {
	program Program
	files   fs.FS
	scripts int             // scripts that may still be read
	steps   int             // commands that may still be read
	bytes   int             // bytes of words so far
	kept    []*Call         // calls whose output is or was in a variable of the text
	reading map[string]bool // scripts being read, which may run themselves
}

// text returns the commands of a text.
func (f *finder) text(text *Text) []event {
	f.kept = nil
	s := &shell{finder: f, text: text, dir: text.Dir, known: map[string]string{}, functions: map[string]*syntax.Stmt{}, ran: map[string]bool{}}
	if strings.Contains(text.Dir, Unknown) {
		s.dir, s.dirUnknown = "", unknownDir
	}
	s.run(text.Shell)
	return s.events
}

// Read returns the content of a file of the project. It refuses what is not a regular file, and files above 1 MiB.
func Read(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !isText(info) {
		return nil, fs.ErrInvalid
	}
	return fs.ReadFile(files, name)
}

// isText reports whether a file is one that [Read] reads.
func isText(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Size() <= maxFile }

// Below returns the path of name relative to the project's folder. Name is relative to dir or begins with [Root]. Ok is
// false if it leads out of the project.
func Below(dir, name string) (rel string, ok bool) {
	name = filepath.ToSlash(name)
	if rest, rooted := strings.CutPrefix(name, Root); rooted {
		dir, name = "", strings.TrimLeft(rest, "/")
		if rest != "" && rest[0] != '/' {
			return "", false
		}
	}
	if path.IsAbs(name) || strings.HasPrefix(name, "~") {
		return "", false
	}
	rel = path.Join(dir, name)
	if rel == "" {
		rel = "."
	}
	return rel, filepath.IsLocal(filepath.FromSlash(rel))
}

// rooted returns the absolute path of a folder of the project, by means of [Root].
func rooted(dir string) string { return path.Join(Root, dir) }

// folder converts a path to a working folder, which is "" for the project's own.
func folder(rel string) string {
	if rel == "." {
		return ""
	}
	return rel
}

// fromRoot replaces [Root] by a path relative to dir.
func fromRoot(text, dir string) string {
	up := "."
	if dir != "" {
		up = strings.TrimSuffix(strings.Repeat("../", 1+strings.Count(dir, "/")), "/")
	}
	return strings.ReplaceAll(text, Root, up)
}

// shown formats a command for messages, in one line.
func (t *Text) shown(text string) string {
	if strings.Contains(text, Unknown) {
		text = cmp.Or(t.Source, strings.ReplaceAll(text, Unknown, "…"))
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(text, Root, ".")), " ")
}

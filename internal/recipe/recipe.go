// Package recipe finds the calls of a program in the shell text that a project's files have others run, without running
// any of it.
//
//	calls := recipe.Calls(texts, recipe.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN"}, view)
//	for _, c := range calls {
//		c.File, c.Line, c.Command, c.Dir, c.Arguments, c.Unclear, c.Then
//	}
//
// Each kind of file hands over its text with its own variables replaced: package makefile that of recipes, [Directives]
// those of go generate, [Tasks] those of Taskfile.yml, justfile and mise.toml. Scripts of the project that a text runs
// are read in its place. What is not a command on its own is reported ([Call.Unclear]), never guessed: arguments that
// only the shell knows, a command in a loop or a pipe.
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

// Characters for private use, which no such file holds.
const (
	// Unknown stands for what cannot be known.
	Unknown = "\ue000"
	// Named ends the name of a variable that may follow Unknown: the one whose value that is.
	Named = "\ue002"
	// Root stands for the absolute path of the project's folder.
	Root = "\ue001"
)

// A Program is what a call is a call of.
type Program struct {
	Name     string // the last element of its path
	Variable string // the variable that holds its path, whatever that is
	Package  string // of Go, which it is built from
	// Filter makes calls clear whose output goes to a file or another command, those of a condition, and those of whose
	// arguments some are [Unknown], which stand among the others.
	Filter bool
}

// A Text is shell text of a file.
type Text struct {
	File    string
	Line    int    // of its first line, from 1
	Command string // what runs it, such as make manifests
	Target  string // what the file calls it
	Group   int    // texts of a file with the same group run one after the other
	Dir     string // where it runs, relative to the project's folder and with slashes; "" is that folder
	Shell   string // with the file's own variables replaced
	Source  string // as it stands in the file

	Optional bool // it is in a condition of the file's own
}

// A Call is one call of the program.
type Call struct {
	File      string
	Line      int    // the first line of the command, from 1
	Target    string // what the file calls the recipe that it is in
	Command   string // what runs that
	Dir       string // where it runs, relative to the project's folder and with slashes; "" is that folder
	Arguments []string
	Version   string // of the program, that the command names or leaves to go.mod; "" if neither says
	// Unclear says why Arguments cannot be reported; "" when they can.
	Unclear string
	// Then are the later commands of the recipe that may write files.
	Then []Step
	// Removed are the files that these remove by their names, relative to the project's folder and with slashes.
	Removed []string
	Before  []Step   // the commands of the recipe before that may write files
	Env     []string // NAME=VALUE, of variables that the command sets for the program
	// Kept is the variable that holds the output, of a [Program.Filter], until a command hands it on.
	Kept string
	Into []string // the programs that its output goes through, of a [Program.Filter]
	// Writes are the files that its output goes to, of a [Program.Filter].
	Writes []string
}

// Calls finds the calls in texts, in order. Files are those of the project: scripts that texts run are read there, and
// no others; nil has none.
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

// withSteps are the calls among the commands of a recipe, each with those that follow. All of them share the steps.
func withSteps(events []event) (calls []Call) {
	var steps []Step
	var removed []string
	gone := []int{0} // how many files are removed by as many steps
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

// The limits of what texts lead to: how many scripts are read, how large each file may be, how deep they lead, and how
// many commands are looked at.
const (
	maxScripts = 100
	maxFile    = 1 << 20
	maxDepth   = 8
	maxSteps   = 1 << 17
	maxKept    = 100 // calls whose output variables keep
)

// An event is a command of a recipe: a call of the program, or another one.
type event struct {
	call *Call
	step Step
}

// writes reports whether it is a command that may write files.
func (e event) writes() bool {
	return e.call == nil && (len(e.step.places) > 0 || e.step.anywhere || e.step.unread)
}

// finder finds calls in texts.
type finder struct {
	program Program
	files   fs.FS
	scripts int             // that may still be read
	steps   int             // that may still be gone through
	bytes   int             // of words so far
	kept    []*Call         // whose output a variable of the text keeps, or did
	reading map[string]bool // scripts that are being read, which may run themselves
}

// text are the commands of a text.
func (f *finder) text(text *Text) []event {
	f.kept = nil
	s := &shell{finder: f, text: text, dir: text.Dir, known: map[string]string{}, functions: map[string]*syntax.Stmt{}, ran: map[string]bool{}}
	if strings.Contains(text.Dir, Unknown) {
		s.dir, s.lost = "", unknownDir
	}
	s.run(text.Shell)
	return s.events
}

// Read is the content of a file of the project; one that is no file, or too large, is refused.
func Read(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fs.ErrInvalid
	}
	return fs.ReadFile(files, name)
}

// Below is a path relative to the project's folder, of one that is relative to dir or begins with [Root]; not ok if it
// leads out of the project.
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

// rooted is the absolute path of a folder of the project.
func rooted(dir string) string { return path.Join(Root, dir) }

// folder is a path of the project's as the folder of a command, which is "" for the project's own.
func folder(rel string) string {
	if rel == "." {
		return ""
	}
	return rel
}

// fromRoot is the text with the project's folder named as it is seen from dir.
func fromRoot(text, dir string) string {
	up := "."
	if dir != "" {
		up = strings.TrimSuffix(strings.Repeat("../", 1+strings.Count(dir, "/")), "/")
	}
	return strings.ReplaceAll(text, Root, up)
}

// shown is a command as messages have it, in one line.
func (t *Text) shown(text string) string {
	if strings.Contains(text, Unknown) {
		text = cmp.Or(t.Source, strings.ReplaceAll(text, Unknown, "…"))
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(text, Root, ".")), " ")
}

package recipe

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// A runner is a program that runs commands of a file.
type runner struct {
	files []string // the names that its file may have; the first that is there counts
	verb  string   // its command line, up to the name of what it runs
	read  func(tasks *tasks, content []byte)
}

// runners are those that are known beside make and go generate.
func runners() []runner {
	return []runner{
		{[]string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml", "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml"}, "task ", (*tasks).taskfile},
		{[]string{"justfile", "Justfile", ".justfile", "JUSTFILE"}, "just ", (*tasks).justfile},
		{[]string{"mise.toml", ".mise.toml", "mise/config.toml", ".mise/config.toml", ".config/mise.toml", ".config/mise/config.toml"}, "mise run ", (*tasks).mise},
	}
}

// TaskFiles are the files in a project, beside a Makefile, that have commands run: one of each kind.
func TaskFiles(files fs.FS) (names []string) {
	for _, r := range runners() {
		if name := r.file(files); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// file is the runner's file in a project, or "".
func (r runner) file(files fs.FS) string {
	at := slices.IndexFunc(r.files, func(name string) bool {
		info, err := fs.Stat(files, name)
		return err == nil && info.Mode().IsRegular()
	})
	if at < 0 {
		return ""
	}
	return r.files[at]
}

// Tasks are the commands of a project's Taskfile, justfile and mise.toml. A file that cannot be read has none.
func Tasks(files fs.FS) (texts []Text) {
	for _, r := range runners() {
		t := &tasks{files: files, verb: r.verb, left: maxTaskFiles, room: &room{maxTasks}, values: map[string]string{}}
		if name := r.file(files); name != "" {
			t.include(name, "", "", r.read)
		}
		texts = append(texts, t.texts...)
	}
	return texts
}

// maxTaskFiles is how many files one may include.
const maxTaskFiles = 30

// maxTasks bounds what texts and values of a runner's files are together, in bytes: aliases and variables stand for
// more than the files have.
const maxTasks = 16 << 20

// A room is what may still be kept, in bytes.
type room struct{ left int }

// takes reports whether there is room for some bytes more.
func (r *room) takes(bytes int) bool {
	r.left -= bytes
	return r.left >= 0
}

// tasks are what is read of a runner's files.
type tasks struct {
	files  fs.FS
	verb   string
	left   int // files that may still be read
	room   *room
	group  int
	values map[string]string // of variables
	texts  []Text

	file   string // that is read
	prefix string // of the names of its tasks
	dir    string // where they run
}

// include reads a file, whose tasks have a prefix before their names and run in a folder.
func (t *tasks) include(file, prefix, dir string, read func(*tasks, []byte)) {
	if t.left == 0 {
		return
	}
	t.left--
	content, err := Read(t.files, file)
	if err != nil {
		return
	}
	inner := *t
	inner.file, inner.prefix, inner.dir = file, prefix, dir
	read(&inner, content)
	t.texts, t.group, t.left = inner.texts, inner.group, inner.left
}

// add adds a command of the task name, whose text begins at a line.
func (t *tasks) add(name string, line int, dir, text string) {
	if !t.room.takes(len(text) + 256) {
		return
	}
	command := ""
	if name = t.prefix + name; shellword.IsPlain(strings.ReplaceAll(name, ":", "/")) {
		command = t.verb + name
	}
	t.texts = append(t.texts, Text{File: t.file, Line: line, Target: name, Command: command, Group: t.group, Dir: dir, Shell: t.replaced(text), Source: strings.TrimSpace(text)})
}

// in is a folder that a task names, relative to one that is known. One that cannot be known is [Unknown], which is the
// folder of no command.
func (t *tasks) in(dir, name string) string {
	if name = t.replaced(name); name == "" {
		return dir
	}
	rel, ok := Below(dir, name)
	if !ok || strings.Contains(name, Unknown) {
		return Unknown
	}
	return folder(rel)
}

// template matches a reference to a variable, or whatever else is computed.
var template = lazy.Regexp(`\{\{-?\s*(.*?)\s*-?\}\}`)

// replaced replaces references by values, and what cannot be known by [Unknown].
func (t *tasks) replaced(text string) string {
	size := 0
	return template().ReplaceAllStringFunc(text, func(reference string) string {
		name := template().FindStringSubmatch(reference)[1]
		switch strings.TrimPrefix(name, ".") {
		case "ROOT_DIR", "USER_WORKING_DIR", "justfile_directory()", "config_root", "cwd":
			return Root
		case "TASKFILE_DIR":
			return rooted(path.Dir(t.file))
		}
		value, known := t.values[strings.TrimPrefix(strings.TrimPrefix(name, "."), "vars.")]
		if size += len(value); !known || size > maxShell || !t.room.takes(len(value)) {
			return Unknown
		}
		return value
	})
}

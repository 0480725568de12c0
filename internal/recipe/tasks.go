package recipe

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// A runner is a program that runs commands from a file.
type runner struct {
	files []string // names of its file; the first that exists is used
	verb  string   // its command line up to the task's name
	read  func(tasks *tasks, content []byte)
}

// runners are the known ones besides make and go generate.
func runners() []runner {
	return []runner{
		{[]string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml", "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml"}, "task ", (*tasks).taskfile},
		{[]string{"justfile", "Justfile", ".justfile", "JUSTFILE"}, "just ", (*tasks).justfile},
		{[]string{"mise.toml", ".mise.toml", "mise/config.toml", ".mise/config.toml", ".config/mise.toml", ".config/mise/config.toml"}, "mise run ", (*tasks).mise},
	}
}

// TaskFiles returns the project's task files: at most one Taskfile, one justfile and one mise.toml.
func TaskFiles(files fs.FS) (names []string) {
	for _, r := range runners() {
		if name := r.file(files); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// file returns the runner's file in a project, or "".
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

// Tasks returns the commands of a project's Taskfile, justfile and mise.toml. It skips a file that cannot be read.
func Tasks(files fs.FS) (texts []Text) {
	for _, r := range runners() {
		t := &tasks{files: files, verb: r.verb, left: maxTaskFiles, room: &byteBudget{maxTasks}, values: map[string]string{}}
		if name := r.file(files); name != "" {
			t.include(name, "", "", r.read)
		}
		texts = append(texts, t.texts...)
	}
	return texts
}

// maxTaskFiles bounds the files of one runner.
const maxTaskFiles = 30

// maxTasks bounds the texts and values from a runner's files, in bytes. Aliases and variables can make them larger than
// the files.
const maxTasks = 16 << 20

// A byteBudget is a budget of bytes.
type byteBudget struct{ left int }

// takes deducts bytes, and reports whether the budget allows them.
func (r *byteBudget) takes(bytes int) bool {
	r.left -= bytes
	return r.left >= 0
}

// tasks collects the texts of a runner's files.
type tasks struct {
	files  fs.FS
	verb   string
	left   int // files that may still be read
	room   *byteBudget
	group  int
	values map[string]string // values of variables
	texts  []Text

	file   string // the file being read
	prefix string // of the names of its tasks
	dir    string // working folder of its tasks
}

// include reads a file. Its tasks get prefix before their names and run in dir.
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

// add adds a command of the task name whose text begins at line.
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

// taskFolder returns the folder that a task names, relative to dir. An unknown folder is [Unknown].
func (t *tasks) taskFolder(dir, name string) string {
	if name = t.replaced(name); name == "" {
		return dir
	}
	rel, ok := Below(dir, name)
	if !ok || strings.Contains(name, Unknown) {
		return Unknown
	}
	return folder(rel)
}

// template matches a reference to a variable, or another template expression.
var template = lazy.Regexp(`\{\{-?\s*(.*?)\s*-?\}\}`)

// replaced expands references. What only the runner knows becomes [Unknown].
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

package recipe

import (
	"bytes"
	"io/fs"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// taskFolders are the folders where mise looks for task scripts.
var taskFolders = []string{"mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks", ".config/mise/tasks"}

// mise reads a mise.toml (https://mise.jdx.dev/tasks/toml-tasks.html) and the task scripts.
func (t *tasks) mise(content []byte) {
	runs, dirs, order := map[string][]tomlText{}, map[string]string{}, []string{}
	for _, e := range tomlEntries(content) {
		table, task, _ := strings.Cut(e.key, ".")
		switch task, field := cutLast(task); {
		case table == "vars" && len(e.values) == 1:
			t.values[strings.TrimPrefix(e.key, "vars.")] = e.values[0].text
		case table != "tasks" || len(e.values) == 0:
		case field == "dir":
			dirs[task] = e.values[0].text
		case field == "run" || task == "": // NAME = "command" below [tasks]
			if task == "" {
				task = field
			}
			order = append(order, task)
			runs[task] = e.values
		}
	}
	for _, task := range order {
		t.group++
		for _, run := range runs[task] {
			t.add(task, run.line, t.taskFolder("", dirs[task]), run.text)
		}
	}
	for _, folder := range taskFolders {
		entries, err := fs.ReadDir(t.files, folder)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if name := path.Join(folder, entry.Name()); entry.Type().IsRegular() {
				t.group++
				t.add(strings.TrimSuffix(entry.Name(), path.Ext(name)), 1, "", quoted([]string{"./" + name}))
			}
		}
	}
}

func cutLast(name string) (before, last string) {
	at := strings.LastIndex(name, ".")
	return name[:max(at, 0)], name[at+1:]
}

// A tomlEntry is a TOML value that is a string or an array, with its dotted key.
type tomlEntry struct {
	key    string
	values []tomlText
}

type tomlText struct {
	text string
	line int
}

// toml collects the strings of a TOML file up to its first mistake.
type toml struct {
	unstable.Parser
	line    int // newlines before counted
	counted int
	entries []tomlEntry
}

func tomlEntries(text []byte) []tomlEntry {
	t := &toml{}
	t.Reset(text)
	table := ""
	for t.NextExpression() {
		switch e := t.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = tomlKey("", e)
		case unstable.KeyValue:
			t.add(table, e)
		}
	}
	return t.entries
}

// maxKey bounds a dotted key, in bytes. In nested inline tables keys would grow with each level.
const maxKey = 1 << 10

// tomlKey returns the dotted key of an entry in a table.
func tomlKey(table string, e *unstable.Node) string {
	var words []string
	if table != "" {
		words = append(words, table)
	}
	for key := e.Key(); key.Next(); {
		words = append(words, string(key.Node().Data))
	}
	return strings.Join(words, ".")
}

// add adds an entry. For an inline table it adds the entries in it.
func (t *toml) add(table string, e *unstable.Node) {
	key, value := tomlKey(table, e), e.Value()
	if len(key) > maxKey {
		return
	}
	added := tomlEntry{key: key}
	switch value.Kind {
	case unstable.InlineTable:
		for of := value.Children(); of.Next(); {
			t.add(key, of.Node())
		}
		return
	case unstable.String:
		added.values = append(added.values, t.text(value))
	case unstable.Array:
		for of := value.Children(); of.Next(); {
			if of.Node().Kind == unstable.String {
				added.values = append(added.values, t.text(of.Node()))
			}
		}
	}
	t.entries = append(t.entries, added)
}

// text returns a string with the line where its content begins.
func (t *toml) text(value *unstable.Node) tomlText {
	at := int(value.Raw.Offset)
	t.line, t.counted = t.line+bytes.Count(t.Data()[t.counted:at], []byte("\n")), at
	line := 1 + t.line
	if raw := bytes.ReplaceAll(t.Raw(value.Raw), []byte("\r"), nil); bytes.HasPrefix(raw, []byte("\"\"\"\n")) || bytes.HasPrefix(raw, []byte("'''\n")) {
		line++
	}
	return tomlText{string(value.Data), line}
}

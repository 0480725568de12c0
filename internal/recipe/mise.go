package recipe

import (
	"bytes"
	"io/fs"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// taskFolders are where mise looks for scripts that are tasks.
var taskFolders = []string{"mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks", ".config/mise/tasks"}

// mise reads a mise.toml: https://mise.jdx.dev/tasks/toml-tasks.html.
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
			t.add(task, run.line, t.in("", dirs[task]), run.text)
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

// cutLast cuts a name at its last dot.
func cutLast(name string) (before, last string) {
	at := strings.LastIndex(name, ".")
	return name[:max(at, 0)], name[at+1:]
}

// A tomlEntry is a value of a TOML file that is a string or strings, by its whole name.
type tomlEntry struct {
	key    string
	values []tomlText
}

type tomlText struct {
	text string
	line int
}

// toml reads the strings of a TOML file, up to the first mistake in it.
type toml struct {
	unstable.Parser
	line    int // of what is before counted
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

// maxKey bounds a key with those of the tables around it, in bytes: tables in one another would have ever longer ones.
const maxKey = 1 << 10

// tomlKey is the name of an entry within a table.
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

// add adds an entry, or those of the table that is its value.
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

// text is a string with the line in which what it holds begins.
func (t *toml) text(value *unstable.Node) tomlText {
	at := int(value.Raw.Offset)
	t.line, t.counted = t.line+bytes.Count(t.Data()[t.counted:at], []byte("\n")), at
	line := 1 + t.line
	if raw := bytes.ReplaceAll(t.Raw(value.Raw), []byte("\r"), nil); bytes.HasPrefix(raw, []byte("\"\"\"\n")) || bytes.HasPrefix(raw, []byte("'''\n")) {
		line++
	}
	return tomlText{string(value.Data), line}
}

package recipe

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// taskFolders are where mise looks for scripts that are tasks.
var taskFolders = []string{"mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks", ".config/mise/tasks"}

// mise reads a mise.toml: https://mise.jdx.dev/tasks/toml-tasks.html.
func (t *tasks) mise(content []byte) {
	runs, dirs, order := map[string][]tomlText{}, map[string]string{}, []string{}
	for _, e := range tomlEntries(string(content)) {
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

// toml reads TOML as far as strings go: tables, inline tables, arrays, and the four forms of strings.
type toml struct {
	text    string
	at      int
	line    int // of what is before counted
	counted int
	entries []tomlEntry
}

func tomlEntries(text string) []tomlEntry {
	t := &toml{text: strings.ReplaceAll(text, "\r\n", "\n")}
	table := ""
	for t.space("\n"); t.at < len(t.text); t.space("\n") {
		if t.text[t.at] == '[' {
			head, _, _ := strings.Cut(t.text[t.at:], "\n")
			t.at += len(head)
			head, _, _ = strings.Cut(head, "#")
			table = tomlName(strings.Trim(head, "[] \t")) + "."
			continue
		}
		if !t.pair(table) {
			t.skipLine()
		}
	}
	return t.entries
}

// tomlName is a key without quotes: a."b:c" is a.b:c.
func tomlName(key string) string {
	return strings.NewReplacer(`"`, "", "'", "", " ", "").Replace(key)
}

// space passes over spaces, characters of more, and comments where lines may end.
func (t *toml) space(more string) {
	for t.at < len(t.text) {
		switch c := t.text[t.at]; {
		case c == ' ' || c == '\t' || strings.IndexByte(more, c) >= 0:
			t.at++
		case c == '#' && more != "":
			t.skipLine()
		default:
			return
		}
	}
}

func (t *toml) skipLine() {
	if end := strings.IndexByte(t.text[t.at:], '\n'); end >= 0 {
		t.at += end
		return
	}
	t.at = len(t.text)
}

// maxKey bounds a key with those of the tables around it, in bytes: tables in one another would have ever longer ones.
const maxKey = 1 << 10

// pair reads KEY = VALUE.
func (t *toml) pair(table string) bool {
	end := strings.IndexAny(t.text[t.at:], "=\n")
	if end < 0 || t.text[t.at+end] == '\n' {
		return false
	}
	key := table + tomlName(t.text[t.at:t.at+end])
	t.at += end + 1
	t.space("")
	if len(key) > maxKey {
		return false
	}
	e := tomlEntry{key: key}
	switch {
	case t.at == len(t.text):
	case t.text[t.at] == '{':
		for t.at++; t.more('}'); {
			if !t.pair(key + ".") {
				return false
			}
		}
	case t.text[t.at] == '[':
		for t.at++; t.more(']'); {
			if value, ok := t.string(); ok {
				e.values = append(e.values, value)
			} else if t.at++; t.at < len(t.text) { // an item that is no string
				t.at += max(0, strings.IndexAny(t.text[t.at:], ",]"))
			}
		}
	default:
		if value, ok := t.string(); ok {
			e.values = append(e.values, value)
		} else if end := strings.IndexAny(t.text[t.at:], ",}\n"); end >= 0 {
			t.at += end
		}
	}
	t.entries = append(t.entries, e)
	return true
}

// more reports whether another item comes before the end of a list, which it passes over.
func (t *toml) more(end byte) bool {
	if t.space(",\n"); t.at < len(t.text) && t.text[t.at] != end {
		return true
	}
	t.at = min(t.at+1, len(t.text))
	return false
}

// string reads a string in one of its four forms.
func (t *toml) string() (value tomlText, ok bool) {
	t.line, t.counted = t.line+strings.Count(t.text[t.counted:t.at], "\n"), t.at
	line := 1 + t.line
	for _, quote := range []string{`"""`, "'''", `"`, "'"} {
		rest, is := strings.CutPrefix(t.text[t.at:], quote)
		if !is {
			continue
		}
		end := tomlEnd(rest, quote)
		if end < 0 {
			return value, false
		}
		t.at += len(quote) + end + len(quote)
		text := rest[:end]
		if len(quote) == 3 && strings.HasPrefix(text, "\n") {
			text, line = text[1:], line+1
		}
		if quote[0] == '"' {
			text = tomlUnescaped(text)
		}
		return tomlText{text, line}, true
	}
	return value, false
}

// tomlEnd is where a string ends; in basic strings a backslash quotes the next character.
func tomlEnd(text, quote string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], quote):
			return i
		case text[i] == '\\' && quote[0] == '"':
			i++
		case text[i] == '\n' && len(quote) == 1:
			return -1
		}
	}
	return -1
}

// tomlUnescaped replaces the escapes of a basic string.
func tomlUnescaped(text string) string {
	var b strings.Builder
	for text != "" {
		if strings.HasPrefix(text, "\\\n") { // the line goes on
			text = strings.TrimLeft(text[1:], " \t\n")
			continue
		}
		r, multibyte, tail, err := strconv.UnquoteChar(text, '"')
		if err != nil || !multibyte && text[0] != '\\' {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		b.WriteRune(r)
		text = tail
	}
	return b.String()
}

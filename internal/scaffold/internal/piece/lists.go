package piece

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A list is a top-level list of a kustomization. Lines are numbered from 0.
type list struct {
	head, end int    // the line of its key, and the one after its last item
	next      int    // the line of the next key, or the one after the last line
	indent    string // of its items
	items     int
	block     bool // one item on each line, or no items
}

// A kustomization is the text of a kustomization with the places of its lists.
type kustomization struct {
	lines     []string
	lists     map[string]list
	malformed bool // invalid YAML, or keys that are not at the left margin
}

// readLists finds the lists of a kustomization. Commented items do not count.
func readLists(src []byte) kustomization {
	k := kustomization{lines: strings.SplitAfter(string(src), "\n"), lists: map[string]list{}}
	var document yaml.Node
	if err := yaml.Unmarshal(src, &document); err != nil {
		k.malformed = true
		return k
	}
	if document.IsZero() {
		return k
	}
	root := document.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		l := list{head: key.Line - 1, next: len(k.lines)}
		if i+2 < len(root.Content) {
			l.next = root.Content[i+2].Line - 1
		}
		// YAML counts line breaks that others do not, such as U+2028.
		if key.Column != 1 || l.head >= l.next || l.next > len(k.lines) || !strings.Contains(k.lines[l.head], key.Value) {
			k.malformed = true
			return k
		}
		k.lists[key.Value] = l.of(value, k.lines)
	}
	k.malformed = root.Kind != yaml.MappingNode
	return k
}

// of returns the list with the places of a key's value.
func (l list) of(value *yaml.Node, lines []string) list {
	l.items = len(value.Content)
	l.block = value.Kind == yaml.ScalarNode && value.Value == "" && value.Style == 0 ||
		value.Kind == yaml.SequenceNode && value.Style&yaml.FlowStyle == 0
	if l.block && l.items > 0 {
		l.indent = strings.Repeat(" ", value.Column-1)
	}
	last := value
	for len(last.Content) > 0 {
		last = last.Content[len(last.Content)-1]
	}
	inText := last.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	l.end = l.head + 1
	for i := l.end; i < l.next; i++ {
		text := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(lines[i], "---"):
			l.next = i // the next document
		case text == "":
		case text[0] != '#', inText && i >= last.Line && strings.HasPrefix(lines[i], l.indent+" "):
			l.end = i + 1
		}
	}
	return l
}

// find returns the line of an item, or -1.
func (k kustomization) find(item Item) int {
	l, ok := k.lists[item.List]
	if !ok {
		return -1
	}
	at := slices.IndexFunc(k.lines[l.head+1:l.end], func(line string) bool { is, _ := item.on(line); return is })
	if at < 0 {
		return -1
	}
	return l.head + 1 + at
}

// around returns the key and the list around a line, which may be a comment.
func (k kustomization) around(line int) (string, list, bool) {
	for name, l := range k.lists {
		if l.head < line && line < l.next && l.block {
			return name, l, true
		}
	}
	return "", list{}, false
}

// line returns an item as a line to insert at a position. In a list without items it takes the indentation of the
// comment there.
func (k kustomization) line(l list, at int, text string) string {
	indent := l.indent
	if l.items == 0 && at < len(k.lines) && strings.HasPrefix(strings.TrimLeft(k.lines[at], " "), "#") {
		indent = k.lines[at][:strings.Index(k.lines[at], "#")]
	}
	return indent + "- " + text + lineEnd(k.lines[l.head])
}

// insert returns the text with an item inserted before a line.
func (k kustomization) insert(l list, at int, text string) []byte {
	lines, line, newline := slices.Clone(k.lines), k.line(l, at, text), lineEnd(k.lines[l.head])
	if !strings.HasSuffix(lines[at-1], "\n") { // the file has no newline at its end
		lines[at-1] += newline
		line = strings.TrimSuffix(line, newline)
	}
	return []byte(strings.Join(slices.Insert(lines, at, line), ""))
}

// replace returns the text with an item in place of a line.
func (k kustomization) replace(l list, at int, text string) []byte {
	lines := slices.Clone(k.lines)
	lines[at] = k.line(l, at, text)
	return []byte(strings.Join(lines, ""))
}

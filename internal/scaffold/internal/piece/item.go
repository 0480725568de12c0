package piece

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// An Item is an item of a top-level list of a kustomization, such as `resources`. Older kustomizations list folders
// among `bases` instead: it is there, too, and gets there where `resources` is not.
type Item struct {
	List, Name string
	First      bool // before all others
}

// ID distinguishes the piece from others of its file.
func (l Item) ID() string { return l.List + " " + l.Name }

// Put adds the text where it is missing.
func (l Item) Put(path string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	if l.inOlderList(lines) {
		return src, nil
	}
	head := l.head(lines)
	if head < 0 && l.List == "resources" && l.inList(olderList).head(lines) >= 0 {
		if strings.HasSuffix(l.Name, ".yaml") { // old versions of kustomize take no files there
			return Entry{l.List, l.Name}.Put(path, src)
		}
		return l.inList(olderList).Put(path, src)
	}
	if head < 0 {
		return nil, &report.Error{
			What:  fmt.Sprintf("there is no list `%s:` with one item on each line", l.List),
			Where: fmt.Sprintf("%s:%d", path, Fragment{}.likelyLine(lines)),
			Hint:  fmt.Sprintf("nothing was changed; insert this and run the command again:\n%s:\n- %s", l.List, l.Name),
		}
	}
	end, indent := listEnd(lines, head)
	if slices.ContainsFunc(lines[head+1:end], func(line string) bool { item, _ := l.on(line); return item }) {
		return src, nil
	}
	at := end
	if l.First {
		at = head + 1
	}
	newline := lineEnd(lines[head])
	line := indent + "- " + l.Name + newline
	if !strings.HasSuffix(lines[at-1], "\n") { // the file ends without one, and goes on to
		lines[at-1] += newline
		line = strings.TrimSuffix(line, newline)
	}
	return []byte(strings.Join(slices.Insert(lines, at, line), "")), nil
}

// Take removes the item's line unless there is something else on it. The list stays, unless Put begins it.
func (l Item) Take(src []byte) ([]byte, int) {
	lines := strings.SplitAfter(string(src), "\n")
	if l.inOlderList(lines) {
		return l.inList(olderList).takeLine(src)
	}
	if l.List == "resources" && strings.HasSuffix(l.Name, ".yaml") && l.inList(olderList).head(lines) >= 0 {
		return l.takeList(src)
	}
	return l.takeLine(src)
}

func (l Item) takeLine(src []byte) ([]byte, int) {
	lines := strings.SplitAfter(string(src), "\n")
	head := l.head(lines)
	if head < 0 {
		return src, 0
	}
	end, _ := listEnd(lines, head)
	for i := head + 1; i < end; i++ {
		switch item, alone := l.on(lines[i]); {
		case item && alone:
			if !strings.HasSuffix(lines[i], "\n") {
				lines[i-1] = strings.TrimSuffix(lines[i-1], lineEnd(lines[i-1]))
			}
			return []byte(strings.Join(slices.Delete(lines, i, i+1), "")), 0
		case item:
			return src, i + 1
		}
	}
	return src, 0
}

// olderList is the list of folders that older kustomizations have beside `resources`.
const olderList = "bases"

func (l Item) inList(list string) Item {
	l.List = list
	return l
}

// inOlderList reports whether an item of `resources` is among `bases`.
func (l Item) inOlderList(lines []string) bool {
	head := l.inList(olderList).head(lines)
	if l.List != "resources" || head < 0 {
		return false
	}
	end, _ := listEnd(lines, head)
	return slices.ContainsFunc(lines[head+1:end], func(line string) bool { item, _ := l.on(line); return item })
}

// head is the line at which the list starts, or -1.
func (l Item) head(lines []string) int {
	return slices.IndexFunc(lines, func(line string) bool {
		rest, ok := strings.CutPrefix(line, l.List+":")
		rest = strings.TrimSpace(rest)
		return ok && (rest == "" || rest[0] == '#')
	})
}

// on reports whether the item is on a line, and whether nothing else is.
func (l Item) on(line string) (item, alone bool) {
	value, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
	if !ok {
		return false, false
	}
	value, _, comment := strings.Cut(value, " #")
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	return value == l.Name, !comment
}

// listEnd returns the line after the last item of the list that starts at head, and
// the indentation of its items.
func listEnd(lines []string, head int) (end int, indent string) {
	end = head + 1
	for i := head + 1; i < len(lines); i++ {
		trimmed := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(trimmed, "- "):
			if end == head+1 { // the first item; those of what it holds have others
				indent = lines[i][:strings.Index(lines[i], "-")]
			}
			end = i + 1
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case lines[i][0] == ' ':
			end = i + 1
		default:
			return end, indent
		}
	}
	return end, indent
}

// RenameItem is the edit that renames a list's item, on a line of its own.
func RenameItem(from, to string) func(string, []byte) ([]byte, error) {
	return func(_ string, src []byte) ([]byte, error) {
		lines := strings.SplitAfter(string(src), "\n")
		for i, line := range lines {
			if item, _ := (Item{Name: from}).on(line); item {
				lines[i] = strings.Replace(line, from, to, 1)
			}
		}
		return []byte(strings.Join(lines, "")), nil
	}
}

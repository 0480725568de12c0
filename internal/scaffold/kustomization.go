package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// A listItem is an item of a top-level list of a kustomization, such as `resources`.
type listItem struct {
	list, item string
	first      bool // before all others
}

// addListItem returns an edit that adds an item to a list, before all others or after them.
func addListItem(list, item string, first bool) func(string, []byte) ([]byte, error) {
	return these(listItem{list, item, first}).put
}

func (l listItem) id() string { return l.list + " " + l.item }

func (l listItem) put(path string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	head := l.head(lines)
	if head < 0 {
		return nil, &report.Error{
			What:  fmt.Sprintf("there is no list `%s:` of one item a line", l.list),
			Where: fmt.Sprintf("%s:%d", path, fragment{}.likelyLine(lines)),
			Hint:  fmt.Sprintf("nothing was changed; insert this and run the command again:\n%s:\n- %s", l.list, l.item),
		}
	}
	end, indent := listEnd(lines, head)
	if slices.ContainsFunc(lines[head+1:end], func(line string) bool { item, _ := l.on(line); return item }) {
		return src, nil
	}
	at := end
	if l.first {
		at = head + 1
	}
	newline := lineEnd(lines[head])
	if !strings.HasSuffix(lines[at-1], "\n") {
		lines[at-1] += newline
	}
	return []byte(strings.Join(slices.Insert(lines, at, indent+"- "+l.item+newline), "")), nil
}

// take removes the item's line unless there is something else on it.
func (l listItem) take(src []byte) ([]byte, int) {
	lines := strings.SplitAfter(string(src), "\n")
	head := l.head(lines)
	if head < 0 {
		return src, 0
	}
	end, _ := listEnd(lines, head)
	for i := head + 1; i < end; i++ {
		switch item, alone := l.on(lines[i]); {
		case item && alone:
			return []byte(strings.Join(slices.Delete(lines, i, i+1), "")), 0
		case item:
			return src, i + 1
		}
	}
	return src, 0
}

// head is the line at which the list starts, or -1.
func (l listItem) head(lines []string) int {
	return slices.IndexFunc(lines, func(line string) bool {
		rest, ok := strings.CutPrefix(line, l.list+":")
		rest = strings.TrimSpace(rest)
		return ok && (rest == "" || rest[0] == '#')
	})
}

// on reports whether the item is on a line, and whether nothing else is.
func (l listItem) on(line string) (item, alone bool) {
	value, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
	if !ok {
		return false, false
	}
	value, _, comment := strings.Cut(value, " #")
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	return value == l.item, !comment
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

package piece

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// An Item is an item of a top-level list of a kustomization, such as `resources`. Kustomize before v2.1 lists folders
// in `bases`: there, Insert uses that list if the file has no `resources`.
type Item struct {
	List, Name string
	First      bool // at the top of the list
}

// ID implements plan.Piece.
func (l Item) ID() string { return l.List + " " + l.Name }

// Insert implements plan.Piece.
func (l Item) Insert(path string, src []byte) ([]byte, error) {
	k := readLists(src)
	if k.find(l) >= 0 || l.List == "resources" && k.find(l.inList(olderList)) >= 0 {
		return src, nil
	}
	in, there := k.lists[l.List]
	if !there && l.List == "resources" && k.lists[olderList].block {
		if strings.HasSuffix(l.Name, ".yaml") { // old versions of kustomize take no files there
			return Entry{l.List, l.Name}.Insert(path, src)
		}
		return l.inList(olderList).Insert(path, src)
	}
	if !in.block {
		return nil, &report.Error{
			Class: report.BadProject,
			What:  fmt.Sprintf("there is no list `%s:` with one item on each line", l.List),
			Where: fmt.Sprintf("%s:%d", path, Fragment{}.likelyLine(k.lines)),
			Hint:  fmt.Sprintf("nothing was changed; insert this and run the command again:\n%s:\n- %s", l.List, l.Name),
		}
	}
	if l.First {
		return k.insert(in, in.head+1, l.Name), nil
	}
	return k.insert(in, in.end, l.Name), nil
}

// Remove removes the item's line unless it contains something else. The list stays, unless Insert would create it
// again.
func (l Item) Remove(src []byte) ([]byte, int) {
	k := readLists(src)
	if l.List == "resources" && k.find(l.inList(olderList)) >= 0 {
		return l.inList(olderList).removeLine(src)
	}
	if l.List == "resources" && strings.HasSuffix(l.Name, ".yaml") && k.lists[olderList].block {
		return l.removeList(src)
	}
	return l.removeLine(src)
}

func (l Item) removeLine(src []byte) ([]byte, int) {
	k := readLists(src)
	i := k.find(l)
	if i < 0 {
		return src, 0
	}
	if _, alone := l.on(k.lines[i]); !alone {
		return src, i + 1
	}
	if !strings.HasSuffix(k.lines[i], "\n") {
		k.lines[i-1] = strings.TrimSuffix(k.lines[i-1], lineEnd(k.lines[i-1]))
	}
	return []byte(strings.Join(slices.Delete(k.lines, i, i+1), "")), 0
}

// olderList is the list of folders in older kustomizations.
const olderList = "bases"

func (l Item) inList(list string) Item {
	l.List = list
	return l
}

// on reports whether a line has the item, and whether it has nothing else.
func (l Item) on(line string) (item, alone bool) {
	value, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
	if !ok {
		return false, false
	}
	value, _, comment := strings.Cut(value, " #")
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	return value == l.Name, !comment
}

// RenameItem returns an edit that renames an item on a line of its own, in any list.
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

// A Listed is an item of `resources`: above a marker in that list or, without the marker, at the end.
type Listed struct{ Marker, Name string }

func (l Listed) inList() Item { return Item{List: "resources", Name: l.Name} }

// ID implements plan.Piece.
func (l Listed) ID() string { return l.Marker + " " + l.Name }

// Insert implements plan.Piece.
func (l Listed) Insert(file string, src []byte) ([]byte, error) {
	k := readLists(src)
	resources, at := k.lists["resources"], markerAt(k.lines, l.Marker)
	if !resources.block || at <= resources.head || at >= resources.next || k.find(l.inList()) >= 0 {
		return l.inList().Insert(file, src)
	}
	return k.insert(resources, at, l.Name), nil
}

// Remove removes the item's line unless it contains something else.
func (l Listed) Remove(src []byte) ([]byte, int) { return l.inList().Remove(src) }

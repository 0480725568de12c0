package piece

import (
	"fmt"
	"slices"
	"strings"
)

// An Entry is an item of a top-level list of a kustomization, on one line. If the list is missing, Insert uncomments
// its head, or else appends the list to the file.
type Entry struct{ List, Text string }

// ID implements plan.Piece.
func (l Entry) ID() string { return l.List + " " + l.Text }

func (l Entry) asItem() Item { return Item{List: l.List, Name: l.Text} }

// Insert implements plan.Piece.
func (l Entry) Insert(file string, src []byte) ([]byte, error) {
	k := readLists(src)
	if _, there := k.lists[l.List]; there || k.malformed {
		return l.asItem().Insert(file, src)
	}
	if head := k.waitingHead(l.List); head >= 0 {
		k.lines[head] = strings.TrimLeft(k.lines[head], "# ")
		return l.asItem().Insert(file, []byte(strings.Join(k.lines, "")))
	}
	end := ""
	if len(src) > 0 && src[len(src)-1] != '\n' {
		end = "\n"
	}
	return fmt.Appendf(slices.Clone(src), "%s%s:\n- %s\n", end, l.List, l.Text), nil
}

// Remove removes the item, and its list with the last one.
func (l Entry) Remove(src []byte) ([]byte, int) { return l.asItem().removeList(src) }

// removeList removes the item, and its list if neither items nor comments are left in it: Insert creates the list
// again.
func (l Item) removeList(src []byte) ([]byte, int) {
	out, changed := l.removeLine(src)
	k := readLists(out)
	in, there := k.lists[l.List]
	lines, head := k.lines, in.head
	if len(out) == len(src) || !there || strings.TrimSpace(lines[head]) != l.List+":" {
		return out, changed
	}
	if rest := slices.DeleteFunc(slices.Clone(lines[head+1:]), blank); len(rest) > 0 && strings.ContainsAny(rest[0][:1], " \t-#") {
		if in.items == 0 && isCommentedItem(rest[0]) { // kubebuilder comments out the head of such a list
			lines[head] = "#" + lines[head]
		}
		return []byte(strings.Join(lines, "")), changed // it has items or comments
	}
	return []byte(strings.Join(slices.Delete(lines, head, head+1), "")), changed
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// An OrderedItem is an item that has a fixed position among others of its list.
type OrderedItem struct {
	Item
	Below []Item // the items that belong below it
}

// Insert implements plan.Piece.
func (o OrderedItem) Insert(file string, src []byte) ([]byte, error) {
	k := readLists(src)
	in := k.lists[o.List]
	if !in.block || k.find(o.Item) >= 0 {
		return Entry{o.List, o.Name}.Insert(file, src)
	}
	at := in.head + 1
	for i := at; i < in.end; i++ {
		if !o.before(k.lines[i]) {
			at = i + 1
		}
	}
	return k.insert(in, at, o.Name), nil
}

// Remove removes the item, and its list with the last one.
func (o OrderedItem) Remove(src []byte) ([]byte, int) { return o.removeList(src) }

// before reports whether the item belongs above a line.
func (o OrderedItem) before(line string) bool {
	return slices.ContainsFunc(o.Below, func(other Item) bool {
		on, _ := other.on(line)
		return on
	})
}

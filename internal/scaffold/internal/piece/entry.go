package piece

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// An Entry is an entry of a top-level list of a kustomization, on one line; the list is
// begun at the end of the file when there is none.
type Entry struct{ List, Text string }

// ID tells the piece from others of its file.
func (l Entry) ID() string { return l.List + " " + l.Text }

func (l Entry) asItem() Item { return Item{List: l.List, Name: l.Text} }

// Put adds the text where it is missing.
func (l Entry) Put(file string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	if l.asItem().head(lines) >= 0 || slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, l.List+":") }) {
		return l.asItem().Put(file, src)
	}
	end := ""
	if len(src) > 0 && src[len(src)-1] != '\n' {
		end = "\n"
	}
	return fmt.Appendf(slices.Clone(src), "%s%s:\n- %s\n", end, l.List, l.Text), nil
}

// Take removes the entry, and the list if it would be begun for the entry again.
func (l Entry) Take(src []byte) ([]byte, int) {
	out, changed := l.asItem().Take(src)
	lines := strings.SplitAfter(string(out), "\n")
	head := l.asItem().head(lines)
	if head < 0 || len(out) == len(src) {
		return out, changed
	}
	without := []byte(strings.Join(slices.Delete(lines, head, head+1), ""))
	if again, err := l.Put("", without); err == nil && bytes.Equal(again, src) {
		return without, changed
	}
	return out, changed
}

// An OrderedItem is an item of a list that has its place among others.
type OrderedItem struct {
	Item
	Below []Item // those that stand below it
}

// Put adds the text where it is missing.
func (o OrderedItem) Put(file string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	head := o.head(lines)
	if head < 0 {
		return Entry{o.List, o.Name}.Put(file, src)
	}
	end, indent := listEnd(lines, head)
	at := head + 1
	for i := head + 1; i < end; i++ {
		if on, _ := o.on(lines[i]); on {
			return src, nil
		}
		if !o.before(lines[i]) {
			at = i + 1
		}
	}
	if !strings.HasSuffix(lines[at-1], "\n") {
		lines[at-1] += "\n"
	}
	return []byte(strings.Join(slices.Insert(lines, at, indent+"- "+o.Name+lineEnd(lines[head])), "")), nil
}

// before reports whether the item belongs above a line.
func (o OrderedItem) before(line string) bool {
	return slices.ContainsFunc(o.Below, func(other Item) bool {
		on, _ := other.on(line)
		return on
	})
}

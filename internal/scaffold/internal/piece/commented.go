package piece

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Section is an item of a kustomization's list that kubebuilder keeps in a comment while it is off. It may span
// several lines.
type Section struct{ Of SectionItem }

// A SectionItem recognizes the item.
type SectionItem interface {
	In(list string) bool // whether the item can be in this list
	Is(item any) bool    // whether this item of the list is the one
}

var (
	sectionHead = lazy.Regexp(`^(#?) ?(resources|bases|components|patches|patchesStrategicMerge|replacements|configurations|vars):\s*$`)
	sectionItem = lazy.Regexp(`^( *#|)( *)- `)
	otherHead   = lazy.Regexp(`^[A-Za-z]`)
)

// A found is an item by the indices of its lines.
type found struct {
	head, begin, end int
	list, sign       string // the comment sign before each line, or ""
}

// find returns all items that match the section, in order.
func (s Section) find(lines []string) []found {
	var all []found
	head := -1
	list := ""
	for i := 0; i < len(lines); i++ {
		if match := sectionHead().FindStringSubmatch(strings.TrimRight(lines[i], "\r\n")); match != nil {
			head, list = i, match[2]
			continue
		}
		if otherHead().MatchString(lines[i]) {
			head = -1
			continue
		}
		match := sectionItem().FindStringSubmatch(lines[i])
		if head < 0 || match == nil {
			continue
		}
		end := itemEnd(lines, i, match[1], len(match[2]))
		if s.Of.In(list) && s.isItem(lines[i:end], match[1]) {
			all = append(all, found{head, i, end, list, match[1]})
		}
		i = end - 1
	}
	return all
}

// itemEnd returns the index after the last line of an item. Blank lines and comments inside the item belong to it,
// those below it do not. Sign is the comment sign of its first line, or "".
func itemEnd(lines []string, begin int, sign string, indent int) int {
	inner := strings.Repeat(" ", indent+2)
	end := begin + 1
	for i := end; i < len(lines); i++ {
		rest, signed := strings.CutPrefix(strings.TrimRight(lines[i], "\r\n"), sign)
		text := strings.TrimSpace(rest)
		switch blank := text == "" || text[0] == '#'; {
		case !blank && signed && strings.HasPrefix(rest, inner):
			end = i + 1
		case !blank || !signed && sign != "":
			return end
		}
	}
	return end
}

func (s Section) isItem(lines []string, sign string) bool {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(strings.TrimPrefix(line, sign))
	}
	var items []any
	return yaml.Unmarshal([]byte(text.String()), &items) == nil && len(items) == 1 && s.Of.Is(items[0])
}

// waitingHead returns the line of the list's commented head that has a commented item directly below, or -1.
func (k kustomization) waitingHead(list string) int {
	for i, line := range k.lines[:len(k.lines)-1] {
		match := sectionHead().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if match != nil && match[1] != "" && match[2] == list && isCommentedItem(k.lines[i+1]) {
			return i
		}
	}
	return -1
}

// isCommentedItem reports whether a commented item of a list begins on a line.
func isCommentedItem(line string) bool {
	return strings.HasPrefix(line, "#") && sectionItem().MatchString(strings.Replace(line, covered, "#", 1))
}

// On uncomments the section and the head of its list. A file without the section stays as it is.
func (s Section) On(_ string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	for _, f := range s.find(lines) {
		if f.sign == "" {
			continue
		}
		in := readLists([]byte(strings.Join(lines, ""))).lists[f.list]
		lines[f.head] = strings.TrimLeft(lines[f.head], "# ")
		indent, _, _ := strings.Cut(strings.TrimPrefix(lines[f.begin], f.sign), "-")
		for i := f.begin; i < f.end; i++ {
			lines[i] = strings.TrimPrefix(lines[i], f.sign)
			if rest, ok := strings.CutPrefix(lines[i], indent); ok && in.items > 0 {
				lines[i] = in.indent + rest
			}
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// listsWithCommentedHead are the lists whose head kubebuilder comments out too while they have no items.
var listsWithCommentedHead = []string{"patches", "replacements", "configurations"}

// Off comments the section out. For [listsWithCommentedHead] it also comments out the head of a list that has no other
// items.
func (s Section) Off(_ string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	for _, f := range s.find(lines) {
		if f.sign != "" {
			continue
		}
		for i := f.begin; i < f.end; i++ {
			lines[i] = "#" + lines[i]
		}
		if in := readLists([]byte(strings.Join(lines, ""))).lists[f.list]; slices.Contains(listsWithCommentedHead, f.list) && in.block && in.items == 0 {
			lines[f.head] = "#" + lines[f.head]
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// Lines returns the line numbers of the section's commented and active items.
func (s Section) Lines(src []byte) (off, on []int) {
	for _, f := range s.find(strings.SplitAfter(string(src), "\n")) {
		if f.sign != "" {
			off = append(off, f.begin+1)
		} else {
			on = append(on, f.begin+1)
		}
	}
	return off, on
}

// Explained reports whether a comment stands directly above the section, as kubebuilder writes above optional items.
func (s Section) Explained(src []byte) bool {
	lines := strings.SplitAfter(string(src), "\n")
	return slices.ContainsFunc(s.find(lines), func(f found) bool {
		return f.begin > 0 && strings.HasPrefix(strings.TrimSpace(lines[f.begin-1]), "#")
	})
}

// A Switch is a section of one line. Insert uncomments it, or adds the line if the file has not even a commented one.
type Switch struct {
	Item
	Section
}

// Insert implements plan.Piece.
func (s Switch) Insert(file string, src []byte) ([]byte, error) {
	switch off, on := s.Lines(src); {
	case len(on) > 0:
		return src, nil
	case len(off) > 0:
		return s.On(file, src)
	}
	out, err := s.Item.Insert(file, src)
	if err != nil {
		return nil, &report.Error{
			Class: report.BadProject,
			What:  fmt.Sprintf("there is no list `%s:` for %s", s.List, s.Name), Where: fmt.Sprintf("%s:%d", file, len(readLists(src).lines)),
			Hint: fmt.Sprintf("nothing was changed; insert this and run the command again:\n%s:\n- %s", s.List, s.Name),
		}
	}
	return out, nil
}

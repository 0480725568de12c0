package piece

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Section is an item of a kustomization's list, on some lines that are in comments while it is off, as kubebuilder's
// projects have them.
type Section struct{ Of SectionItem }

// A SectionItem says which item that is.
type SectionItem interface {
	In(list string) bool // whether a list may have it
	Is(item any) bool    // whether it is this item of the list
}

var (
	sectionHead = lazy.Regexp(`^(#?) ?(resources|bases|components|patches|patchesStrategicMerge|replacements|configurations|vars):\s*$`)
	sectionItem = lazy.Regexp(`^( *#|)( *)- `)
	otherHead   = lazy.Regexp(`^[A-Za-z]`)
)

// A found is an item, by the indices of its lines.
type found struct {
	head, begin, end int
	list, sign       string // the sign of comments before each line, or none
}

// find returns the items that the section is, in their order.
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

// itemEnd is the line after an item that begins at a line, behind a sign of comments or none and with an indentation.
// Blank lines and comments within the item are of it, and those below it are not.
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

// waitingHead is the line at which the head of a list is in a comment, with an item below it that is in one as well, or
// -1.
func (k kustomization) waitingHead(list string) int {
	for i, line := range k.lines[:len(k.lines)-1] {
		match := sectionHead().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if match != nil && match[1] != "" && match[2] == list && waits(k.lines[i+1]) {
			return i
		}
	}
	return -1
}

// waits reports whether an item of a list begins on a line, in a comment.
func waits(line string) bool {
	return strings.HasPrefix(line, "#") && sectionItem().MatchString(strings.Replace(line, covered, "#", 1))
}

// On takes the section, and the head of its list, out of their comments. A file without it stays as it is.
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

// headsToo are the lists whose head is in a comment as well while they have no items.
var headsToo = []string{"patches", "replacements", "configurations"}

// Off puts the section into comments, and the head of a list that has nothing else.
func (s Section) Off(_ string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	for _, f := range s.find(lines) {
		if f.sign != "" {
			continue
		}
		for i := f.begin; i < f.end; i++ {
			lines[i] = "#" + lines[i]
		}
		if in := readLists([]byte(strings.Join(lines, ""))).lists[f.list]; slices.Contains(headsToo, f.list) && in.block && in.items == 0 {
			lines[f.head] = "#" + lines[f.head]
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// Lines returns the numbers of the lines at which the section is: in comments, and on.
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

// Explained reports whether the section stands below a comment, as those that are in comments while they are off do.
func (s Section) Explained(src []byte) bool {
	lines := strings.SplitAfter(string(src), "\n")
	return slices.ContainsFunc(s.find(lines), func(f found) bool {
		return f.begin > 0 && strings.HasPrefix(strings.TrimSpace(lines[f.begin-1]), "#")
	})
}

// A Switch is a section that is an item on one line. It is added where it is not there, not even in a comment.
type Switch struct {
	Item
	Section
}

// Insert adds the text where it is missing.
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
			What: fmt.Sprintf("there is no list `%s:` for %s", s.List, s.Name), Where: fmt.Sprintf("%s:%d", file, len(readLists(src).lines)),
			Hint: fmt.Sprintf("nothing was changed; insert this and run the command again:\n%s:\n- %s", s.List, s.Name),
		}
	}
	return out, nil
}

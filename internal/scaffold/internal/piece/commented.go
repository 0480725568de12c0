package piece

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// A Section is what an item of a kustomization's list is about, on some lines that are in comments while it is off, as
// kubebuilder's projects have them.
type Section struct {
	List string                    // such as patches
	Is   func(map[string]any) bool // whether it is this item
	Bare bool                      // the list's head stays without items, as older layouts have it
}

// PathIs is the section for the item of a list that names a file.
func PathIs(list, file string) Section {
	return Section{List: list, Is: func(item map[string]any) bool { return item["path"] == file }}
}

var (
	sectionHead = lazy.Regexp(`^(#?) ?(resources|components|patches|replacements|configurations|patchesStrategicMerge|vars):\s*$`)
	sectionItem = lazy.Regexp(`^(#?)( *)- `)
	otherHead   = lazy.Regexp(`^[A-Za-z]`)
)

// A found is an item, by the indices of its lines.
type found struct {
	head, begin, end int
	off              bool // it is in comments
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
		if list == s.List && s.isItem(lines[i:end], match[1]) {
			all = append(all, found{head, i, end, match[1] != ""})
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
		switch blank := strings.TrimSpace(rest) == "" || rest[0] == '#'; {
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
	var items []map[string]any
	return yaml.Unmarshal([]byte(text.String()), &items) == nil && len(items) == 1 && s.Is(items[0])
}

// On takes the section, and the head of its list, out of their comments. A file without it stays as it is.
func (s Section) On(_ string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	for _, f := range s.find(lines) {
		if !f.off {
			continue
		}
		in := readLists([]byte(strings.Join(lines, ""))).lists[s.List]
		lines[f.head] = strings.TrimLeft(lines[f.head], "# ")
		indent, _, _ := strings.Cut(strings.TrimPrefix(lines[f.begin], "#"), "-")
		for i := f.begin; i < f.end; i++ {
			lines[i] = strings.TrimPrefix(lines[i], "#")
			if rest, ok := strings.CutPrefix(lines[i], indent); ok && in.items > 0 {
				lines[i] = in.indent + rest
			}
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// Off puts the section into comments, and the head of a list that has nothing else.
func (s Section) Off(_ string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	for _, f := range s.find(lines) {
		if f.off {
			continue
		}
		for i := f.begin; i < f.end; i++ {
			lines[i] = "#" + lines[i]
		}
		if in := readLists([]byte(strings.Join(lines, ""))).lists[s.List]; !s.Bare && in.block && in.items == 0 {
			lines[f.head] = "#" + lines[f.head]
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// Waits returns the numbers of the lines at which the section is in comments.
func (s Section) Waits(src []byte) []int {
	var all []int
	for _, f := range s.find(strings.SplitAfter(string(src), "\n")) {
		if f.off {
			all = append(all, f.begin+1)
		}
	}
	return all
}

package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// addListItem returns an edit that adds an item to a top-level list of a
// kustomization, such as `resources`, before all others or after them.
func addListItem(list, item string, first bool) func(string, []byte) ([]byte, error) {
	return func(path string, src []byte) ([]byte, error) {
		lines := strings.SplitAfter(string(src), "\n")
		head := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) == list+":" && line[0] == list[0] })
		if head < 0 {
			return nil, &report.Error{
				What:  fmt.Sprintf("there is no list `%s:` of one item a line", list),
				Where: fmt.Sprintf("%s:%d", path, fragment{}.likelyLine(lines)),
				Hint:  fmt.Sprintf("nothing was changed; insert this and run the command again:\n%s:\n- %s", list, item),
			}
		}
		end, indent := listEnd(lines, head)
		for _, line := range lines[head+1 : end] {
			if value, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && strings.Trim(strings.TrimSpace(value), `"'`) == item {
				return src, nil
			}
		}
		at := end
		if first {
			at = head + 1
		}
		if at > 0 && !strings.HasSuffix(lines[at-1], "\n") {
			lines[at-1] += "\n"
		}
		return []byte(strings.Join(slices.Insert(lines, at, indent+"- "+item+"\n"), "")), nil
	}
}

// listEnd returns the line after the last item of the list that starts at head, and
// the indentation of its items.
func listEnd(lines []string, head int) (end int, indent string) {
	end = head + 1
	for i := head + 1; i < len(lines); i++ {
		trimmed := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(trimmed, "- "):
			indent = lines[i][:strings.Index(lines[i], "-")]
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

package piece

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// Uncommented is an item of a list that is in a comment while it is off.
type Uncommented struct{ Item }

// Put adds the text where it is missing.
func (u Uncommented) Put(file string, src []byte) ([]byte, error) {
	k := readLists(src)
	lines := k.lines
	if slices.ContainsFunc(lines, func(line string) bool { on, _ := u.on(line); return on }) {
		return src, nil
	}
	comment := regexp.MustCompile(`^\s*#\s*- ` + regexp.QuoteMeta(u.Name) + `\s*$`)
	if i := slices.IndexFunc(lines, comment.MatchString); i >= 0 {
		if _, in, listed := k.around(i); listed {
			return k.replace(in, i, u.Name), nil
		}
	}
	out, err := u.Item.Put(file, src)
	if err != nil {
		return nil, &report.Error{
			What: fmt.Sprintf("there is no list `%s:` for %s", u.List, u.Name), Where: fmt.Sprintf("%s:%d", file, len(lines)),
			Hint: fmt.Sprintf("nothing was changed; insert this and run the command again:\n%s:\n- %s", u.List, u.Name),
		}
	}
	return out, nil
}

// Off puts the item into a comment.
func (u Uncommented) Off(_ string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	for i, line := range lines {
		if on, _ := u.on(line); on {
			lines[i] = "#" + line
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// Explained reports whether the item stands below a comment, as those that are in comments while they are off do.
func (u Uncommented) Explained(src []byte) bool {
	lines := strings.SplitAfter(string(src), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { on, _ := u.on(line); return on })
	return at > 0 && strings.HasPrefix(strings.TrimSpace(lines[at-1]), "#")
}

// A UncommentedList is a list of one item that is there in comments, or not at all.
type UncommentedList struct{ List, Name string }

func (u UncommentedList) asEntry() Entry { return Entry{u.List, u.Name} }

// ID distinguishes the piece from others of its file.
func (u UncommentedList) ID() string { return u.asEntry().ID() }

// Put adds the text where it is missing.
func (u UncommentedList) Put(file string, src []byte) ([]byte, error) {
	commented := regexp.MustCompile(`(?m)^#\s?` + u.List + `:\n#\s?- ` + regexp.QuoteMeta(u.Name) + `$`)
	if at := commented.FindIndex(src); at != nil {
		return slices.Concat(src[:at[0]], fmt.Appendf(nil, "%s:\n- %s", u.List, u.Name), src[at[1]:]), nil
	}
	return u.asEntry().Put(file, src)
}

// Take removes the text.
func (u UncommentedList) Take(src []byte) ([]byte, int) { return u.asEntry().Take(src) }

package scaffold

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// A componentLine is a feature's line in its place among those of the others.
type componentLine struct{ Feature }

func (c componentLine) id() string { return c.line().id() }

func (c componentLine) put(file string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	head := c.line().head(lines)
	if head < 0 {
		return listEntry{"components", c.line().item}.put(file, src)
	}
	end, indent := listEnd(lines, head)
	at := head + 1
	for i := head + 1; i < end; i++ {
		if on, _ := c.line().on(lines[i]); on {
			return src, nil
		}
		if !c.before(lines[i]) {
			at = i + 1
		}
	}
	if !strings.HasSuffix(lines[at-1], "\n") {
		lines[at-1] += "\n"
	}
	return []byte(strings.Join(slices.Insert(lines, at, indent+"- "+c.line().item+lineEnd(lines[head])), "")), nil
}

func (c componentLine) take(src []byte) ([]byte, int) { return c.line().take(src) }

// before reports whether the feature's line belongs above that of another feature.
func (c componentLine) before(line string) bool {
	all := Features()
	for _, other := range all[slices.Index(all, c.Feature)+1:] {
		if on, _ := other.line().on(line); on {
			return true
		}
	}
	return false
}

// A listEntry is an entry of a top-level list of a kustomization, on one line; the list is
// begun at the end of the file when there is none.
type listEntry struct{ list, entry string }

func (l listEntry) id() string { return l.list + " " + l.entry }

func (l listEntry) item() listItem { return listItem{list: l.list, item: l.entry} }

func (l listEntry) put(file string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	if l.item().head(lines) >= 0 || slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, l.list+":") }) {
		return l.item().put(file, src)
	}
	end := ""
	if len(src) > 0 && src[len(src)-1] != '\n' {
		end = "\n"
	}
	return fmt.Appendf(slices.Clone(src), "%s%s:\n- %s\n", end, l.list, l.entry), nil
}

// take removes the entry, and the list if it would be begun for the entry again.
func (l listEntry) take(src []byte) ([]byte, int) {
	out, changed := l.item().take(src)
	lines := strings.SplitAfter(string(out), "\n")
	head := l.item().head(lines)
	if head < 0 || len(out) == len(src) {
		return out, changed
	}
	without := []byte(strings.Join(slices.Delete(lines, head, head+1), ""))
	if again, err := l.put("", without); err == nil && bytes.Equal(again, src) {
		return without, changed
	}
	return out, changed
}

// uncommented is a feature's line in projects of other tools: among the resources, in a comment while
// it is off.
type uncommented Feature

func (u uncommented) line() listItem { return listItem{list: "resources", item: "../" + string(u)} }

func (u uncommented) id() string { return u.line().id() }

func (u uncommented) put(file string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	if slices.ContainsFunc(lines, func(line string) bool { on, _ := u.line().on(line); return on }) {
		return src, nil
	}
	comment := regexp.MustCompile(`^#\s*- \.\./` + regexp.QuoteMeta(string(u)) + `\s*$`)
	if i := slices.IndexFunc(lines, comment.MatchString); i >= 0 {
		lines[i] = "- ../" + string(u) + lineEnd(lines[i])
		return []byte(strings.Join(lines, "")), nil
	}
	out, err := u.line().put(file, src)
	if err != nil {
		return nil, &report.Error{
			What: "there is no list `resources:` for ../" + string(u), Where: fmt.Sprintf("%s:%d", file, len(lines)),
			Hint: "nothing was changed; insert this and run the command again:\nresources:\n- ../" + string(u),
		}
	}
	return out, nil
}

func (u uncommented) take(src []byte) ([]byte, int) { return u.line().take(src) }

package piece

import (
	"bytes"
	"regexp"
	"slices"
)

// A MakefileTarget is a target of a Makefile with its recipe. A target of that name which is there already is left
// alone.
type MakefileTarget struct {
	Name string
	Text string // from the line .PHONY to the recipe's last
}

// ID sets the piece apart from others of its file.
func (t MakefileTarget) ID() string { return "target " + t.Name }

// rule finds the first line of the target.
func (t MakefileTarget) rule() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(t.Name) + `\s*:([^=]|$)`)
}

// Put adds the text at the end of the file where the target is missing.
func (t MakefileTarget) Put(_ string, src []byte) ([]byte, error) {
	if t.rule().Match(src) {
		return src, nil
	}
	return append(endedLine(src), t.Text...), nil
}

// Take removes the text; a target that was changed has its line reported.
func (t MakefileTarget) Take(src []byte) ([]byte, int) {
	for _, text := range []string{"\n" + t.Text, t.Text} {
		if before, after, found := bytes.Cut(src, []byte(text)); found {
			return slices.Concat(before, after), 0
		}
	}
	if at := t.rule().FindIndex(src); at != nil {
		return src, 1 + bytes.Count(src[:at[0]], []byte("\n"))
	}
	return src, 0
}

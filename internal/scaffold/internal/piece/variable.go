package piece

import (
	"bytes"
	"regexp"
	"slices"
)

// A MakefileVariable is a variable of a Makefile that a target needs. One of that name which is there already is left
// alone.
type MakefileVariable struct{ Name, Default string }

// ID sets the piece apart from others of its file.
func (v MakefileVariable) ID() string { return "variable " + v.Name }

// TakenUnused marks the piece as one that only its last use keeps.
func (v MakefileVariable) TakenUnused() {}

func (v MakefileVariable) text() string { return v.Name + " ?= " + v.Default + "\n" }

// Put adds the text at the end of the file where the variable is missing.
func (v MakefileVariable) Put(_ string, src []byte) ([]byte, error) {
	defined := regexp.MustCompile(`(?m)^\s*(?:(?:export|override|define)\s+)*` + regexp.QuoteMeta(v.Name) + `\s*(?:[:?+!]*=|$)`)
	if defined.Match(src) {
		return src, nil
	}
	return slices.Concat(endedLine(src), []byte(v.text())), nil
}

// Take removes the text if nothing in the file uses the variable any more.
func (v MakefileVariable) Take(src []byte) ([]byte, int) {
	if used := regexp.MustCompile(`\$[({]` + regexp.QuoteMeta(v.Name) + `\b`); used.Match(src) {
		return src, 0
	}
	before, after, found := bytes.Cut(src, []byte("\n"+v.text()))
	if !found || len(before) > 0 && before[len(before)-1] != '\n' { // not as it was put
		return src, 0
	}
	return slices.Concat(before, after), 0
}

// endedLine is a file, with an empty line at its end if it has others.
func endedLine(src []byte) []byte {
	out := slices.Clone(src)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	return out
}

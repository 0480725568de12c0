package piece

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// A MakefileGenerator is one more generator of the call that makes DeepCopy methods, in a
// Makefile that calls controller-gen itself.
type MakefileGenerator struct{ Name string }

var deepCopyCall = lazy.Regexp(`(?m)^(\t.*(?:CONTROLLER_GEN|controller-gen).*\s)object(:\S+)?`)

// ID reports the piece from others of its file.
func (g MakefileGenerator) ID() string { return g.Name }

// Insert adds the text where it is missing.
func (g MakefileGenerator) Insert(_ string, src []byte) ([]byte, error) {
	if bytes.Contains(src, []byte(g.Name)) {
		return src, nil
	}
	return deepCopyCall().ReplaceAll(src, []byte("${0} "+g.Name+"${2}")), nil
}

// Remove removes the text.
func (g MakefileGenerator) Remove(src []byte) ([]byte, int) {
	return regexp.MustCompile(` `+g.Name+`(:\S+)?`).ReplaceAll(src, nil), 0
}

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

// Insert adds the text at the end of the file where the target is missing.
func (t MakefileTarget) Insert(_ string, src []byte) ([]byte, error) {
	if t.rule().Match(src) {
		return src, nil
	}
	return append(endedLine(src), t.Text...), nil
}

// Remove removes the text; a target that was changed has its line reported.
func (t MakefileTarget) Remove(src []byte) ([]byte, int) {
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

// A MakefileVariable is a variable of a Makefile that a target needs. One of that name which is there already is left
// alone.
type MakefileVariable struct{ Name, Default string }

// ID sets the piece apart from others of its file.
func (v MakefileVariable) ID() string { return "variable " + v.Name }

// TakenUnused marks the piece as one that only its last use keeps.
func (v MakefileVariable) TakenUnused() {}

func (v MakefileVariable) text() string { return v.Name + " ?= " + v.Default + "\n" }

// Insert adds the text at the end of the file where the variable is missing.
func (v MakefileVariable) Insert(_ string, src []byte) ([]byte, error) {
	defined := regexp.MustCompile(`(?m)^\s*(?:(?:export|override|define)\s+)*` + regexp.QuoteMeta(v.Name) + `\s*(?:[:?+!]*=|$)`)
	if defined.Match(src) {
		return src, nil
	}
	return slices.Concat(endedLine(src), []byte(v.text())), nil
}

// Remove removes the text if nothing in the file uses the variable any more.
func (v MakefileVariable) Remove(src []byte) ([]byte, int) {
	if used := regexp.MustCompile(`\$[({]` + regexp.QuoteMeta(v.Name) + `\b`); used.Match(src) {
		return src, 0
	}
	before, after, found := bytes.Cut(src, []byte("\n"+v.text()))
	if !found || len(before) > 0 && before[len(before)-1] != '\n' { // not as it was inserted
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

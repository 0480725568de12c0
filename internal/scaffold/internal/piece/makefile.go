package piece

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// A MakefileGenerator adds a generator to the call of controller-gen that generates DeepCopy methods.
type MakefileGenerator struct{ Name string }

var deepCopyCall = lazy.Regexp(`(?m)^(\t.*(?:CONTROLLER_GEN|controller-gen).*\s)object(:\S+)?`)

// ID implements plan.Piece.
func (g MakefileGenerator) ID() string { return g.Name }

// Insert implements plan.Piece.
func (g MakefileGenerator) Insert(_ string, src []byte) ([]byte, error) {
	if bytes.Contains(src, []byte(g.Name)) {
		return src, nil
	}
	return deepCopyCall().ReplaceAll(src, []byte("${0} "+g.Name+"${2}")), nil
}

// Remove implements plan.Piece.
func (g MakefileGenerator) Remove(src []byte) ([]byte, int) {
	return regexp.MustCompile(` `+g.Name+`(:\S+)?`).ReplaceAll(src, nil), 0
}

// A MakefileTarget is a target with its recipe. An existing target of that name stays as it is.
type MakefileTarget struct {
	Name string
	Text string // from the line .PHONY to the last of the recipe
}

// ID implements plan.Piece.
func (t MakefileTarget) ID() string { return "target " + t.Name }

// rule matches the first line of the target.
func (t MakefileTarget) rule() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(t.Name) + `\s*:([^=]|$)`)
}

// Insert appends the target to the file if it is missing.
func (t MakefileTarget) Insert(_ string, src []byte) ([]byte, error) {
	if t.rule().Match(src) {
		return src, nil
	}
	return append(endedLine(src), t.Text...), nil
}

// Remove implements plan.Piece.
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

// A MakefileVariable is a variable that a target uses. An existing one of that name stays as it is.
type MakefileVariable struct{ Name, Default string }

// ID implements plan.Piece.
func (v MakefileVariable) ID() string { return "variable " + v.Name }

// TakenUnused marks a piece that undoing removes once no line uses it.
func (v MakefileVariable) TakenUnused() {}

func (v MakefileVariable) text() string { return v.Name + " ?= " + v.Default + "\n" }

// Insert appends the variable to the file if it is missing.
func (v MakefileVariable) Insert(_ string, src []byte) ([]byte, error) {
	defined := regexp.MustCompile(`(?m)^\s*(?:(?:export|override|define)\s+)*` + regexp.QuoteMeta(v.Name) + `\s*(?:[:?+!]*=|$)`)
	if defined.Match(src) {
		return src, nil
	}
	return slices.Concat(endedLine(src), []byte(v.text())), nil
}

// Remove removes the variable if no line uses it.
func (v MakefileVariable) Remove(src []byte) ([]byte, int) {
	if used := regexp.MustCompile(`\$[({]` + regexp.QuoteMeta(v.Name) + `\b`); used.Match(src) {
		return src, 0
	}
	before, after, found := bytes.Cut(src, []byte("\n"+v.text()))
	if !found || len(before) > 0 && before[len(before)-1] != '\n' { // the user changed it
		return src, 0
	}
	return slices.Concat(before, after), 0
}

// endedLine returns a file that ends with an empty line, unless it is empty.
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

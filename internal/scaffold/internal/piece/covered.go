package piece

import "strings"

// A Covered is a commented section whose feature a component provides. Its lines begin with "## ": kubebuilder's
// commands, which uncomment sections by their text, then do not match it and deploy nothing twice.
type Covered struct {
	Section
	Name string // distinguishes the piece from others
}

const covered = "## "

// ID implements plan.Piece.
func (c Covered) ID() string { return "covered " + c.Name }

// Insert implements plan.Piece.
func (c Covered) Insert(_ string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	for _, f := range c.find(lines) {
		if f.sign == "#" {
			replacePrefix(lines[f.begin:f.end], "#", covered)
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// Remove implements plan.Piece.
func (c Covered) Remove(src []byte) ([]byte, int) {
	lines := strings.SplitAfter(string(src), "\n")
	bare := strings.SplitAfter(string(src), "\n")
	replacePrefix(bare, covered, "#")
	for _, f := range c.find(bare) {
		if strings.HasPrefix(lines[f.begin], covered) {
			copy(lines[f.begin:f.end], bare[f.begin:f.end])
		}
	}
	return []byte(strings.Join(lines, "")), 0
}

// replacePrefix replaces the prefix of those lines that have it.
func replacePrefix(lines []string, from, to string) {
	for i, line := range lines {
		if rest, is := strings.CutPrefix(line, from); is {
			lines[i] = to + rest
		}
	}
}

package piece

import "strings"

// A Covered is a section that stays in its comment while a component is there for the same: kubebuilder's commands,
// which take sections out of their comments by their text, do not find it and deploy nothing twice.
type Covered struct {
	Section
	Name string // distinguishes it from others
}

// covered begins the lines of such a section in place of the sign of comments.
const covered = "## "

// ID distinguishes the piece from others of its file.
func (c Covered) ID() string { return "covered " + c.Name }

// Insert covers the section.
func (c Covered) Insert(_ string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	for _, f := range c.find(lines) {
		if f.sign == "#" {
			swap(lines[f.begin:f.end], "#", covered)
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// Remove uncovers the section.
func (c Covered) Remove(src []byte) ([]byte, int) {
	lines := strings.SplitAfter(string(src), "\n")
	bare := strings.SplitAfter(string(src), "\n")
	swap(bare, covered, "#")
	for _, f := range c.find(bare) {
		if strings.HasPrefix(lines[f.begin], covered) {
			copy(lines[f.begin:f.end], bare[f.begin:f.end])
		}
	}
	return []byte(strings.Join(lines, "")), 0
}

// swap begins lines in another way.
func swap(lines []string, from, to string) {
	for i, line := range lines {
		if rest, is := strings.CutPrefix(line, from); is {
			lines[i] = to + rest
		}
	}
}

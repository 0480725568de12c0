package piece

import (
	"bytes"
	"slices"
	"strconv"
)

// A Spec is a container of specs that stands at the end of a file of Ginkgo's tests. A file that describes its title
// has it already, whatever became of the rest.
type Spec struct {
	Title string
	Code  string
}

// ID distinguishes the piece from others of its file.
func (s Spec) ID() string { return "describe " + s.Title }

// In reports whether a file has the specs.
func (s Spec) In(src []byte) bool { return bytes.Contains(src, s.call()) }

func (s Spec) call() []byte { return []byte("Describe(" + strconv.Quote(s.Title) + ",") }

// Insert adds the text where it is missing.
func (s Spec) Insert(_ string, src []byte) ([]byte, error) {
	if s.In(src) {
		return src, nil
	}
	return slices.Concat(bytes.TrimRight(src, "\n"), []byte("\n\n"+s.Code)), nil
}

// Remove removes the code if it is as it was inserted.
func (s Spec) Remove(src []byte) ([]byte, int) {
	if before, after, ok := bytes.Cut(src, []byte("\n"+s.Code)); ok {
		return slices.Concat(before, after), 0
	}
	if before, _, ok := bytes.Cut(src, s.call()); ok {
		return src, 1 + bytes.Count(before, []byte("\n"))
	}
	return src, 0
}

package piece

import (
	"bytes"
	"slices"
	"strconv"
)

// A Spec is a container of Ginkgo specs at the end of a test file. A file that describes Title has it already, even if
// the rest differs.
type Spec struct {
	Title string
	Code  string
}

// ID implements plan.Piece.
func (s Spec) ID() string { return "describe " + s.Title }

// In reports whether a file describes the spec's title.
func (s Spec) In(src []byte) bool { return bytes.Contains(src, s.call()) }

func (s Spec) call() []byte { return []byte("Describe(" + strconv.Quote(s.Title) + ",") }

// Insert implements plan.Piece.
func (s Spec) Insert(_ string, src []byte) ([]byte, error) {
	if s.In(src) {
		return src, nil
	}
	return slices.Concat(bytes.TrimRight(src, "\n"), []byte("\n\n"+s.Code)), nil
}

// Remove implements plan.Piece.
func (s Spec) Remove(src []byte) ([]byte, int) {
	if before, after, ok := bytes.Cut(src, []byte("\n"+s.Code)); ok {
		return slices.Concat(before, after), 0
	}
	if before, _, ok := bytes.Cut(src, s.call()); ok {
		return src, 1 + bytes.Count(before, []byte("\n"))
	}
	return src, 0
}

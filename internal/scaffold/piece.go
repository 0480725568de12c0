package scaffold

import (
	"bytes"
	"strings"
)

// A piece is text that belongs into a file once: put adds it where it is missing, take
// removes it as it was put. Both leave a file alone in which there is nothing to do.
type piece interface {
	// id is the same for pieces that are the same text of a file.
	id() string
	put(path string, src []byte) ([]byte, error)
	// take returns the line at which the piece stands in another form, which only its
	// author can remove; it is 0 when the piece is gone.
	take(src []byte) (out []byte, changed int)
}

// pieces are what a verb puts into a file. They may depend on what it holds, as on the
// names of its imports.
type pieces func(src []byte) []piece

// these are pieces that do not depend on the file.
func these(p ...piece) pieces { return func([]byte) []piece { return p } }

// put adds all pieces; see [Plan.put].
func (of pieces) put(path string, src []byte) ([]byte, error) {
	out := src
	for _, piece := range of(src) {
		var err error
		if out, err = piece.put(path, out); err != nil {
			return nil, err
		}
	}
	return keepGo(path, src, out), nil
}

// keepGo formats Go code after a change if it was formatted before.
func keepGo(path string, before, after []byte) []byte {
	if bytes.Equal(before, after) || !strings.HasSuffix(path, ".go") {
		return after
	}
	return keepFormat(before, after)
}

// put plans that a file has these pieces, and its merge base too. What is put can be
// taken out again by the verb's undoing; see [needs].
func (p *Plan) put(path string, of pieces) error {
	if p.needs != nil {
		p.needs.addPieces(path, of)
		return nil
	}
	return p.edit(path, of.put)
}

// require plans a file that several parts of a project share: it is created unless it
// is there, and undone with the last one that requires it.
func (p *Plan) require(path string, content []byte) error {
	if p.needs != nil {
		p.needs.addFile(path, content)
		return nil
	}
	if there, err := p.exists(path); err != nil || there {
		return err
	}
	return p.create(path, content)
}

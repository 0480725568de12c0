package plan

import (
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// A Piece is text that belongs into a file once. Insert adds it if it is missing, and Remove removes it if it is as it
// was inserted. Otherwise both return the file unchanged.
type Piece interface {
	// ID is equal for pieces that stand for the same text of a file.
	ID() string
	Insert(path string, src []byte) ([]byte, error)
	// Remove returns the line of a piece that the user changed, which therefore stays; else 0.
	Remove(src []byte) (out []byte, changed int)
}

// Pieces returns what a verb inserts into a file. It may depend on the content, such as on the names of imports.
type Pieces func(src []byte) []Piece

// These returns pieces that do not depend on the file.
func These(p ...Piece) Pieces { return func([]byte) []Piece { return p } }

// Insert inserts all pieces; see [Plan.Insert].
func (of Pieces) Insert(path string, src []byte) ([]byte, error) {
	steps, err := of.steps(path, src)
	if err != nil {
		return nil, err
	}
	return append([][]byte{src}, steps...)[len(steps)], nil
}

// steps returns the file after each piece. The base records the pieces one by one: then two branches that insert the
// same piece have the same text there, whatever else they insert.
func (of Pieces) steps(path string, src []byte) ([][]byte, error) {
	var steps [][]byte
	out := src
	for _, piece := range of(src) {
		var err error
		if out, err = piece.Insert(path, out); err != nil {
			return nil, err
		}
		steps = append(steps, gofile.KeepFormat(path, src, out))
	}
	return steps, nil
}

// Insert plans that a file and its merge base have these pieces. Undoing a verb can remove them again; see [Needs].
func (p *Plan) Insert(path string, of Pieces) error {
	if p.needs != nil {
		p.needs.Pieces = append(p.needs.Pieces, NeededPieces{Path: path, Of: of})
		return nil
	}
	return p.edit(path, of.Insert, of.steps)
}

// Require plans a file that several parts of a project share. An existing file stays as it is; undoing removes the file
// with the last part that requires it.
func (p *Plan) Require(path string, content []byte) error {
	if p.needs != nil {
		p.needs.addFile(path, p.joining(path, content))
		return nil
	}
	if there, err := p.Exists(path); err != nil || there {
		return err
	}
	return p.Create(path, content)
}

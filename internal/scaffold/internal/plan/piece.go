package plan

import (
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// A Piece is text that belongs into a file once: Insert adds it where it is missing, Remove
// removes it as it was inserted. Both leave a file alone in which there is nothing to do.
type Piece interface {
	// ID is the same for pieces that are the same text of a file.
	ID() string
	Insert(path string, src []byte) ([]byte, error)
	// Remove returns the line at which the piece stands in another form, which only its
	// author can remove; it is 0 when the piece is gone.
	Remove(src []byte) (out []byte, changed int)
}

// Pieces are what a verb puts into a file. They may depend on what it holds, as on the
// names of its imports.
type Pieces func(src []byte) []Piece

// These are pieces that do not depend on the file.
func These(p ...Piece) Pieces { return func([]byte) []Piece { return p } }

// Insert adds all pieces; see [Plan.Insert].
func (of Pieces) Insert(path string, src []byte) ([]byte, error) {
	steps, err := of.steps(path, src)
	if err != nil {
		return nil, err
	}
	return append([][]byte{src}, steps...)[len(steps)], nil
}

// steps are what becomes of a file with each piece. The base records them one by one, so that pieces which
// two branches both put are the same there, whatever they put besides.
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

// Insert plans that a file has these pieces, and its merge base too. The verb's undoing can take such pieces out again;
// see [needs].
func (p *Plan) Insert(path string, of Pieces) error {
	if p.needs != nil {
		p.needs.Pieces = append(p.needs.Pieces, NeededPieces{Path: path, Of: of})
		return nil
	}
	return p.edit(path, of.Insert, of.steps)
}

// Require plans a file that several parts of a project share: it is created unless it
// is there, and undone with the last one that requires it.
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

package scaffold

import (
	"slices"
)

// needs are what a part of a project, such as an API, consists of: files, and pieces of
// files that it shares with other parts. A verb's planning is run with a plan that
// records them; undoing the verb removes those that no other part needs.
type needs struct {
	names  bool // only the names of files matter, not what is in them
	files  []neededFile
	pieces []neededPieces
}

type neededFile struct {
	path    string
	content []byte // as it would be created today; nil when that is not known
	from    string // of a generated file: the one that it follows from
}

type neededPieces struct {
	path string
	of   pieces
}

// recording starts a plan that changes nothing: what is created, required and put is
// added to needs instead.
func recording(root string, base *Base, to *needs) *Plan {
	return &Plan{root: root, base: base, needs: to}
}

// namesOnly reports whether the plan records names alone: what they stand for, which takes
// longer to find out, is not asked for.
func (p *Plan) namesOnly() bool { return p.needs != nil && p.needs.names }

func (n *needs) addFile(path string, content []byte) {
	n.files = append(n.files, neededFile{path: path, content: content})
}

func (n *needs) addGenerated(path, from string) {
	n.files = append(n.files, neededFile{path: path, from: from})
}

func (n *needs) addPieces(path string, of pieces) {
	n.pieces = append(n.pieces, neededPieces{path, of})
}

// hasFile reports whether the file is needed.
func (n *needs) hasFile(path string) bool {
	return slices.ContainsFunc(n.files, func(f neededFile) bool { return f.path == path })
}

// ids are the pieces that are needed in a file with this content.
func (n *needs) ids(path string, src []byte) map[string]bool {
	ids := map[string]bool{}
	for _, p := range n.pieces {
		if p.path != path {
			continue
		}
		for _, piece := range p.of(src) {
			ids[piece.id()] = true
		}
	}
	return ids
}

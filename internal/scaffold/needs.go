package scaffold

import (
	"slices"
)

// needs are what a part of a project, such as an API, consists of: files, and pieces of
// files that it shares with other parts. A verb's planning is run with a plan that
// records them; undoing the verb removes those that no other part needs.
//
//	plan := recording(root, base)
//	err := (&apiPlan{Plan: plan, …}).steps()
//	plan.needs…
type needs struct {
	files  []neededFile
	pieces []neededPieces
}

type neededFile struct {
	path    string
	content []byte // as it would be created today; nil when that is not known
}

type neededPieces struct {
	path string
	of   pieces
}

// recording starts a plan that changes nothing: what is created, required and put is
// recorded instead.
func recording(root string, base *Base) *Plan {
	return &Plan{root: root, base: base, needs: &needs{}}
}

func (n *needs) addFile(path string, content []byte) {
	n.files = append(n.files, neededFile{path, content})
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

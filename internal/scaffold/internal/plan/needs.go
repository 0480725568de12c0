package plan

import (
	"slices"
)

// Needs are the files that a part of a project, such as an API, consists of, and its pieces of shared files. The
// planning of a verb runs with a plan that records them; undoing the verb removes those that no other part needs.
type Needs struct {
	NamesOnly bool // record paths of files alone, without their contents
	Files     []NeededFile
	Pieces    []NeededPieces
}

// A NeededFile is a file that belongs to a part alone, unless another part needs it too.
type NeededFile struct {
	Path    string
	Content []byte // as it would be created now; nil if that is unknown
	From    string // the source of a generated file
}

// NeededPieces are a part's pieces of a shared file.
type NeededPieces struct {
	Path string
	Of   Pieces
	List string // the kustomization that they deploy, if any: see [Plan.NeedDeployed]
}

// Record starts a plan for the same project that changes nothing: Create, Require and Insert add to needs instead.
func (p *Plan) Record(to *Needs) *Plan {
	return &Plan{base: p.base, folder: p.folder, code: p.code, needs: to}
}

// Recording reports whether the plan only records needs; see [Plan.Record].
func (p *Plan) Recording() bool { return p.needs != nil }

// NeedGenerated records a file that is generated from another one. From may be "".
func (p *Plan) NeedGenerated(path, from string) {
	p.needs.Files = append(p.needs.Files, NeededFile{Path: path, From: from})
}

// NeedDeployed records pieces that deploy a kustomization, which may also list things that PROJECT does not know.
// Undoing removes the pieces only with it, or once it lists nothing.
func (p *Plan) NeedDeployed(list, path string, of Pieces) {
	p.needs.Pieces = append(p.needs.Pieces, NeededPieces{Path: path, Of: of, List: list})
}

// NamesOnly reports whether the plan records paths alone, so that the caller can skip rendering contents.
func (p *Plan) NamesOnly() bool { return p.needs != nil && p.needs.NamesOnly }

func (n *Needs) addFile(path string, content []byte) {
	n.Files = append(n.Files, NeededFile{Path: path, Content: content})
}

// HasFile reports whether the part needs the file.
func (n *Needs) HasFile(path string) bool {
	return slices.ContainsFunc(n.Files, func(f NeededFile) bool { return f.Path == path })
}

// IDs returns the IDs of the pieces that are needed in a file with this content.
func (n *Needs) IDs(path string, src []byte) map[string]bool {
	ids := map[string]bool{}
	for _, p := range n.Pieces {
		if p.Path != path {
			continue
		}
		for _, piece := range p.Of(src) {
			ids[piece.ID()] = true
		}
	}
	return ids
}

package plan

import (
	"slices"
)

// Needs are what a part of a project, such as an API, consists of: files, and pieces of
// files that it shares with other parts. A verb's planning is run with a plan that
// records them; undoing the verb removes those that no other part needs.
type Needs struct {
	NamesOnly bool // only the names of files matter, not what is in them
	Files     []NeededFile
	Pieces    []NeededPieces
}

// A NeededFile is a file that a part consists of.
type NeededFile struct {
	Path    string
	Content []byte // as it would be created today; nil when that is not known
	From    string // of a generated file: the one that it follows from
}

// NeededPieces are what a part has in a file that it shares.
type NeededPieces struct {
	Path string
	Of   Pieces
	List string // the kustomization that they deploy, if any: see [Plan.NeedDeployed]
}

// Record starts a plan for the same project that changes nothing: what is created, required
// and inserted is added to needs instead.
func (p *Plan) Record(to *Needs) *Plan {
	return &Plan{base: p.base, folder: p.folder, code: p.code, needs: to}
}

// Recording reports whether the plan changes nothing; see [Plan.Record].
func (p *Plan) Recording() bool { return p.needs != nil }

// NeedGenerated records that a file is needed which is generated from another one.
func (p *Plan) NeedGenerated(path, from string) {
	p.needs.Files = append(p.needs.Files, NeededFile{Path: path, From: from})
}

// NeedDeployed records pieces that deploy a kustomization, which may list more than parts of the project's PROJECT:
// they are taken with it, or once it builds of nothing.
func (p *Plan) NeedDeployed(list, path string, of Pieces) {
	p.needs.Pieces = append(p.needs.Pieces, NeededPieces{Path: path, Of: of, List: list})
}

// NamesOnly reports whether the plan records names alone: what they stand for, which takes
// longer to find out, is not asked for.
func (p *Plan) NamesOnly() bool { return p.needs != nil && p.needs.NamesOnly }

func (n *Needs) addFile(path string, content []byte) {
	n.Files = append(n.Files, NeededFile{Path: path, Content: content})
}

// HasFile reports whether the file is needed.
func (n *Needs) HasFile(path string) bool {
	return slices.ContainsFunc(n.Files, func(f NeededFile) bool { return f.Path == path })
}

// IDs are the pieces that are needed in a file with this content.
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

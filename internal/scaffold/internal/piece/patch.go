package piece

import (
	"regexp"
	"slices"
)

// A Patch is a patch file at an insertion point of a kustomization: an item of `patches` with its path or, in older
// kustomizations, an item of `patchesStrategicMerge`. Insert uncomments it if the file has it in a comment.
type Patch struct{ Marker, File string }

// ID implements plan.Piece.
func (p Patch) ID() string { return p.Marker + " " + p.File }

// Insert implements plan.Piece.
func (p Patch) Insert(file string, src []byte) ([]byte, error) {
	k := readLists(src)
	if p.fragment(src).present(k.lines) {
		return src, nil
	}
	comment := regexp.MustCompile(`^\s*#\s*- (path: )?` + regexp.QuoteMeta(p.File) + `\s*$`)
	put, at := k.replace, slices.IndexFunc(k.lines, comment.MatchString)
	if at < 0 {
		put, at = k.insert, markerAt(k.lines, p.Marker)
	}
	name, in, _ := k.around(at)
	if !slices.Contains(patchLists[:], name) {
		return Entry{patchLists[0], "path: " + p.File}.Insert(file, src)
	}
	return put(in, at, p.item(name)), nil
}

// Remove implements plan.Piece.
func (p Patch) Remove(src []byte) ([]byte, int) { return p.fragment(src).Remove(src) }

// patchLists are the lists of patches. The first takes mappings with a path, the second takes paths.
var patchLists = [...]string{"patches", "patchesStrategicMerge"}

func (p Patch) item(list string) string {
	if list == patchLists[0] {
		return "path: " + p.File
	}
	return p.File
}

// fragment returns the patch's line in the form of the list around its marker.
func (p Patch) fragment(src []byte) Fragment {
	k := readLists(src)
	name, _, listed := k.around(markerAt(k.lines, p.Marker))
	if !listed {
		name = patchLists[0]
	}
	return Fragment{Marker: p.Marker, Code: "- " + p.item(name) + "\n", Key: p.File}
}

package piece

import (
	"regexp"
	"slices"
)

// A Patch is the file of a patch at an insertion point of a kustomization: an item of `patches` with its path or, in
// older kustomizations, of `patchesStrategicMerge`. While it is off it may be there in a comment.
type Patch struct{ Marker, File string }

// ID distinguishes the piece from others of its file.
func (p Patch) ID() string { return p.Marker + " " + p.File }

// Insert adds the text where it is missing.
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

// Remove removes the text.
func (p Patch) Remove(src []byte) ([]byte, int) { return p.fragment(src).Remove(src) }

// patchLists are the lists that may have a patch, the first of which has it as a path.
var patchLists = [...]string{"patches", "patchesStrategicMerge"}

// item is the patch as an item of one of them.
func (p Patch) item(list string) string {
	if list == patchLists[0] {
		return "path: " + p.File
	}
	return p.File
}

// fragment is the patch's line, as the list that its marker is in has it.
func (p Patch) fragment(src []byte) Fragment {
	k := readLists(src)
	name, _, listed := k.around(markerAt(k.lines, p.Marker))
	if !listed {
		name = patchLists[0]
	}
	return Fragment{Marker: p.Marker, Code: "- " + p.item(name) + "\n", Key: p.File}
}

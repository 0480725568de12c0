package piece

import (
	"regexp"
	"slices"
	"strings"
)

// A Patch is the file of a patch at an insertion point of a kustomization: an item of `patches` with its path or, in
// older kustomizations, of `patchesStrategicMerge`. While it is off it may be there in a comment.
type Patch struct{ Marker, File string }

// ID distinguishes the piece from others of its file.
func (p Patch) ID() string { return p.Marker + " " + p.File }

// Put adds the text where it is missing.
func (p Patch) Put(file string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	of := p.fragment(lines)
	if of.present(lines) {
		return src, nil
	}
	comment := regexp.MustCompile(`^#\s*- (path: )?` + regexp.QuoteMeta(p.File) + `\s*$`)
	if i := slices.IndexFunc(lines, comment.MatchString); i >= 0 {
		lines[i] = strings.TrimSuffix(of.Code, "\n") + lineEnd(lines[i])
		return []byte(strings.Join(lines, "")), nil
	}
	return of.Put(file, src)
}

// Take removes the text.
func (p Patch) Take(src []byte) ([]byte, int) {
	return p.fragment(strings.SplitAfter(string(src), "\n")).Take(src)
}

// fragment is the patch's line, as the list that its marker is in has it.
func (p Patch) fragment(lines []string) Fragment {
	code := "- path: " + p.File + "\n"
	list := ""
	for _, line := range lines {
		if m := markerLine().FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil && m[1] == p.Marker {
			break
		}
		if key, _, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(key, " #-") {
			list = key
		}
	}
	if list == "patchesStrategicMerge" {
		code = "- " + p.File + "\n"
	}
	return Fragment{Marker: p.Marker, Code: code, Key: p.File}
}

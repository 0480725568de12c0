package load

import (
	"go/ast"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

// docOf is the text of a doc comment as API descriptions have it: without
// markers and directives, without lines that begin with TODO, and only up to a
// line that begins with ---, except inside fenced code; a plain one is taken as a whole.
func docOf(group *ast.CommentGroup, plain bool) string {
	if group == nil {
		return ""
	}
	text, block := withoutMarkers(group)
	if text == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	kept := lines[:0]
	fenced := false
	for _, line := range lines {
		if block { // only these keep the source's indentation
			line = strings.TrimSpace(line)
		}
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
		}
		if !fenced && !plain && strings.HasPrefix(line, "---") {
			break
		}
		if !fenced && !plain && strings.HasPrefix(line, "TODO") {
			continue
		}
		if plain && line == "" {
			line = "\n"
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// withoutMarkers returns the text of a comment without its markers, and whether
// part of it is a /* block */.
func withoutMarkers(group *ast.CommentGroup) (text string, block bool) {
	var rest ast.CommentGroup
	for _, line := range group.List {
		if marker.IsMarker(line.Text) {
			continue
		}
		block = block || strings.HasPrefix(line.Text, "/*")
		rest.List = append(rest.List, line)
	}
	return rest.Text(), block
}

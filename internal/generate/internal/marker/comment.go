package marker

import (
	"go/ast"
	"go/token"
	"strings"
)

// Comment is one marker as it stands in the source: Text begins with its plus
// sign and Pos is the position of that sign.
type Comment struct {
	Text string
	Pos  token.Pos
	// Doc is set for markers of a doc comment; the others stand in a comment
	// group of their own above what they describe.
	Doc bool
}

// Name is the marker's name: all up to the equals sign, without the plus sign.
// For markers with named arguments that includes the first argument's name.
func (c Comment) Name() string {
	name, _, _ := strings.Cut(c.Text[1:], "=")
	return name
}

// IsMarker reports whether a line of comment, with its slashes, is a marker.
func IsMarker(line string) bool {
	if len(line) < 3 || line[:2] != "//" {
		return false
	}
	rest := strings.TrimSpace(line[2:])
	return rest != "" && rest[0] == '+'
}

// markersOf returns the markers of a comment group.
func markersOf(group *ast.CommentGroup, doc bool) []Comment {
	var found []Comment
	for _, line := range group.List {
		if !IsMarker(line.Text) {
			continue
		}
		indent := strings.IndexByte(line.Text, '+')
		text := strings.TrimSpace(line.Text[2:])
		found = append(found, Comment{Text: text, Pos: line.Slash + token.Pos(indent), Doc: doc})
	}
	return found
}

// split cuts a marker into the name that it has when its arguments are named
// ("a:b" of +a:b:c=1), the name that it has when its value has no name ("a:b:c")
// and the text after the first equals sign.
func split(text string) (named, nameless, rest string) {
	nameless, rest, found := strings.Cut(text[1:], "=")
	named = nameless
	if colon := strings.LastIndexByte(nameless, ':'); found && colon >= 0 {
		named = nameless[:colon]
	}
	return named, nameless, rest
}

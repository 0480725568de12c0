// Package shellword writes words as a shell takes them, for the commands that messages advise: their arguments may come
// from files of a repository, which may be a stranger's.
//
//	next := "slipway create api --kind " + shellword.Quote(kind)
package shellword

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// oneWord matches what a shell takes as it is.
var oneWord = lazy.Regexp(`^[\w./:@][\w./:@,=-]*$`)

// Quote returns text as one word of a shell's command, between quotes where that is needed.
func Quote(text string) string {
	if oneWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

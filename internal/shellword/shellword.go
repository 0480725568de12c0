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

// plain matches words that mean nothing but themselves.
var plain = lazy.Regexp(`^[\w.][\w./-]*$`)

// IsPlain reports whether text is a word of letters, digits, dots, slashes and dashes, and no flag: one that a shell,
// and the command that gets it, take as it is. A colon or an equals sign may mean more: make takes such a word for a
// rule or a variable.
func IsPlain(text string) bool { return plain().MatchString(text) }

// Quote returns text as one word of a shell's command, between quotes where that is needed.
func Quote(text string) string {
	if oneWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

package explain

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// plainWord is a name that is one word in any shell, and no flag.
var plainWord = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._/:=-]*$`)

// command is a command line with names. They are strangers', so there is none if one would be more than a word.
func command(format string, names ...string) string {
	words := make([]any, len(names))
	for i, name := range names {
		if !plainWord().MatchString(name) {
			return ""
		}
		words[i] = name
	}
	return fmt.Sprintf(format, words...)
}

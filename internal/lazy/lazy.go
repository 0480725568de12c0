// Package lazy makes values when they are first asked for. A program runs the initialisers of all packages that are
// linked into it at every start, whatever it is asked to do, so a package-level value that takes work is one of these:
//
//	var name = lazy.Regexp(`^[a-z]+$`)
//
//	if name().MatchString(s) { … }
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled by the first call. It panics there if the expression is none.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

package piece

import (
	"bytes"
	"regexp"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// A MakefileGenerator is one more generator of the call that makes DeepCopy methods, in a
// Makefile that calls controller-gen itself.
type MakefileGenerator struct{ Name string }

var deepCopyCall = lazy.Regexp(`(?m)^(\t.*(?:CONTROLLER_GEN|controller-gen).*\s)object(:\S+)?`)

// ID reports the piece from others of its file.
func (g MakefileGenerator) ID() string { return g.Name }

// Put adds the text where it is missing.
func (g MakefileGenerator) Put(_ string, src []byte) ([]byte, error) {
	if bytes.Contains(src, []byte(g.Name)) {
		return src, nil
	}
	return deepCopyCall().ReplaceAll(src, []byte("${0} "+g.Name+"${2}")), nil
}

// Take removes the text.
func (g MakefileGenerator) Take(src []byte) ([]byte, int) {
	return regexp.MustCompile(` `+g.Name+`(:\S+)?`).ReplaceAll(src, nil), 0
}

package gofile

import (
	"bytes"
	"go/format"
	"strings"
)

// keepFormat formats Go code after an insertion if it was formatted before; a file
// that its owner formats otherwise is left as it is.
func keepFormat(before, after []byte) []byte {
	if formatted, err := format.Source(before); err != nil || !bytes.Equal(formatted, before) {
		return after
	}
	if formatted, err := format.Source(after); err == nil {
		return formatted
	}
	return after
}

// KeepFormat formats Go code after a change if it was formatted before.
func KeepFormat(path string, before, after []byte) []byte {
	if bytes.Equal(before, after) || !strings.HasSuffix(path, ".go") {
		return after
	}
	return keepFormat(before, after)
}

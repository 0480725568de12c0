package gofile

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// KeepFormat formats Go code after a change if it was formatted before; a file that its owner formats otherwise is
// left as it is.
func KeepFormat(path string, before, after []byte) []byte {
	if bytes.Equal(before, after) || !strings.HasSuffix(path, ".go") {
		return after
	}
	if formatted, err := format.Source(before); err != nil || !bytes.Equal(formatted, before) {
		return after
	}
	if formatted, err := format.Source(after); err == nil {
		return formatted
	}
	return after
}

// Unparsable is the refusal of a change after which a file that was Go is none, or nil. An insertion point may stand
// where the code does not belong.
func Unparsable(file string, before, after []byte) *report.Error {
	if bytes.Equal(before, after) || !strings.HasSuffix(file, ".go") {
		return nil
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", after, parser.SkipObjectResolution)
	mistakes, is := errors.AsType[scanner.ErrorList](err)
	if !is {
		return nil
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", before, parser.SkipObjectResolution); err != nil {
		return nil // it was none before
	}
	return &report.Error{
		What: "the file would not be Go any more", Where: fmt.Sprintf("%s:%d", file, mistakes[0].Pos.Line), Err: errors.New(mistakes[0].Msg),
		Hint: "nothing was changed; an insertion point, a comment with +kubebuilder:scaffold, is not where its code belongs: move it back, and run the command again",
	}
}

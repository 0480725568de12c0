package base

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The beginning of the first line, whose next word is the format's version, and the first line.
const (
	magic  = "# slipway base "
	header = magic + "1: the files as they were scaffolded, which later changes are merged against. Commit it. Git merges it by itself."
)

// footer is the last line: a base without it was cut off.
const footer = "# end of slipway base"

// section begins a file; its id and its path follow.
const section = "== "

// How long ids of files and tags of lines are.
const (
	idLength  = 6
	tagLength = 4
)

// mostTags bounds the tags of a file's lines, far below the number of tags that there are: looking for one that is free
// takes the longer the fewer are left.
const mostTags = 1 << 15

// Encode returns the base as it is written. The same files, changed in the same steps, give the same bytes.
func (b *Base) Encode() []byte {
	var out bytes.Buffer
	out.WriteString(header + "\n")
	taken := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(b.files)) {
		id := newName(taken, idLength, path)
		fmt.Fprintf(&out, "%s%s %s\n", section, id, quotedPath(path))
		for _, l := range b.files[path].lines {
			out.WriteString(id + l.tag + quoted(l.text) + "\n")
		}
	}
	out.WriteString(footer + "\n")
	return out.Bytes()
}

var encoding = base32.HexEncoding.WithPadding(base32.NoPadding)

// newName makes a name of texts that is not taken yet, and takes it.
func newName(taken map[string]bool, length int, texts ...string) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %q", n, texts))
		name := strings.ToLower(encoding.EncodeToString(sum[:]))[:length]
		if !taken[name] {
			taken[name] = true
			return name
		}
	}
}

// quoted is a line as it stands behind its tag: as it is, if tools that tidy up texts leave it so.
func quoted(text string) string {
	plain, ended := strings.CutSuffix(text, "\n")
	switch {
	case !ended || !isPlain(plain):
		return strconv.Quote(text)
	case plain == "":
		return ""
	}
	return " " + plain
}

// isPlain reports whether a text is one that git and editors take for text, and that has no space at its end.
func isPlain(text string) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == '\x7f' || r == '\ufeff' }
	return utf8.ValidString(text) && !strings.ContainsFunc(text, control) && strings.TrimRight(text, " \t") == text
}

// unquoted reads what quoted has written.
func unquoted(text string) (string, error) {
	switch {
	case text == "":
		return "\n", nil
	case text[0] == ' ':
		return text[1:] + "\n", nil
	case text[0] != '"':
		return "", errTag
	}
	out, err := strconv.Unquote(text)
	if err != nil || out == "" || strings.Contains(strings.TrimSuffix(out, "\n"), "\n") {
		return "", errQuoted
	}
	return out, nil
}

// quotedPath is a path as it stands in the line that begins its file.
func quotedPath(path string) string {
	if path == "" || path[0] == '"' || strings.TrimSpace(path) != path || !isPlain(path) {
		return strconv.Quote(path)
	}
	return path
}

// unquotedPath reads what quotedPath has written.
func unquotedPath(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	path, err := strconv.Unquote(text)
	if err != nil {
		return "", errQuoted
	}
	return path, nil
}

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

// Magic begins the first line; the format's version follows it.
const (
	magic  = "# slipway base "
	header = magic + "1: the files as they were scaffolded, which later changes are merged against. Commit it. Git merges it by itself."
)

// footer is the last line. A base without it is truncated.
const footer = "# end of slipway base"

// section begins the first line of a file. The file's id and path follow.
const section = "== "

const (
	idLength  = 6
	tagLength = 4
)

// mostTags bounds the tags of one file. Finding a free tag takes longer the fewer are left.
const mostTags = 1 << 15

// Encode returns the base as it is written to disk. The same files, changed in the same steps, give the same bytes.
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

// newName derives a name from texts that is not yet taken, and adds it to taken.
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

// quoted returns a line as it follows its tag: plain, unless git or an editor could change it.
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

// isPlain reports whether git and editors treat the text as text, and whether it has no trailing space.
func isPlain(text string) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == '\x7f' || r == '\ufeff' }
	return utf8.ValidString(text) && !strings.ContainsFunc(text, control) && strings.TrimRight(text, " \t") == text
}

// unquoted is the inverse of quoted.
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

// quotedPath returns a path as it stands in the first line of its file.
func quotedPath(path string) string {
	if path == "" || path[0] == '"' || strings.TrimSpace(path) != path || !isPlain(path) {
		return strconv.Quote(path)
	}
	return path
}

// unquotedPath is the inverse of quotedPath.
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

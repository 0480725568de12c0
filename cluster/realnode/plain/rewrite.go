package plain

import (
	"os"
	"strings"
)

func (p paths) translateAll(texts []string) []string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = p.translate(t)
	}
	return all
}

// translate replaces the container's paths in a text by those on this machine. It replaces paths in mounts and below
// the image's top-level folders. A path can follow a separator, as in --config=/etc/app.yaml, in lists and in quotes.
func (p paths) translate(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		begin, end := nextPath(text)
		b.WriteString(text[:begin])
		b.WriteString(p.local(text[begin:end]))
		text = text[end:]
	}
	return b.String()
}

// local returns a path on this machine. It returns paths unchanged that the container does not have, as in URLs.
func (p paths) local(path string) string {
	if strings.Trim(path, "/") == "" {
		return path
	}
	if _, _, ok := p.mounted(path); ok {
		return p.of(path)
	}
	top, _, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	if exists(p.of(top)) {
		return p.of(path)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// separators end a word. A word that begins with a slash is a path.
const separators = "=:,;|&<>()\"' \t\n@"

// nextPath returns the bounds of the first path in a text. Without one both are the text's length.
func nextPath(text string) (begin, end int) {
	for begin < len(text) {
		if strings.IndexByte(separators, text[begin]) >= 0 {
			begin++
			continue
		}
		length := strings.IndexAny(text[begin:], separators)
		if length < 0 {
			length = len(text) - begin
		}
		if text[begin] == '/' {
			begin += authority(text, begin)
			return begin, max(begin, wordEnd(text, begin))
		}
		begin += length
	}
	return len(text), len(text)
}

// authority returns the length of a URL's part at a position that is no path. It is the first two slashes of file:///a,
// and all after the scheme of other URLs.
func authority(text string, at int) int {
	if !strings.HasPrefix(text[at:], "//") || at == 0 || text[at-1] != ':' {
		return 0
	}
	if strings.HasPrefix(text[at:], "///") {
		return len("//")
	}
	return wordEnd(text, at) - at
}

func wordEnd(text string, at int) int {
	if length := strings.IndexAny(text[at:], separators); length >= 0 {
		return at + length
	}
	return len(text)
}

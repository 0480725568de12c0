package plain

import (
	"os"
	"strings"
)

// translateAll translates each text.
func (p paths) translateAll(texts []string) []string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = p.translate(t)
	}
	return all
}

// translate replaces the paths in a text that are the container's by those of this machine: what is in a mount, and in
// folders that the image has. A path begins where something else ends, as in --config=/etc/app.yaml, in lists and in
// quotes.
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

// local is a path as it is on this machine; others stay as they are, such as those of URLs.
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

// separators stand between words, of which those that begin with a slash are paths.
const separators = "=:,;|&<>()\"' \t\n@"

// nextPath finds the next path of a text; without one it is empty, at the end.
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

// authority is as long as the beginning of a URL that is no path: of file:///a it is the first two slashes, and all of
// what another one names.
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

package prose

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/lazy"
)

const tabWidth = 4

// item matches the beginning of an item of a list.
var item = lazy.Regexp(`^ *(?:[-*+•]|\d+[.)]) +`)

// itemAfter returns what an item of a list begins with that follows a paragraph or nothing, or "" if the line is none.
// In a text, whose lines begin at a column, a number begins no item unless it is the first of a list.
func itemAfter(open *paragraph, column int, line string) string {
	head := item().FindString(line)
	mark := strings.Trim(head, " .)")
	text := open != nil && !open.item && indented(line) == column
	if text && mark != "1" && strings.Trim(mark, "0123456789") == "" {
		return ""
	}
	return head
}

// indented returns the number of spaces that a line begins with.
func indented(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// columns returns how wide a text is.
func columns(text string) int {
	return utf8.RuneCountInString(text) + (tabWidth-1)*strings.Count(text, "\t")
}

// broken returns the lines of a paragraph broken anew, or nil if none of them is too wide or they cannot be broken
// better.
func (p paragraph) broken(lines []string) []string {
	old := lines[p.first : p.last+1]
	if !slices.ContainsFunc(old, func(line string) bool { return columns(line) > Width }) || p.fixed || p.aligned() {
		return nil
	}
	if out := p.fill(); !slices.Equal(out, old) {
		return out
	}
	return nil
}

// aligned reports whether words of a line stand below each other, or may: they have more than a space between them.
func (p paragraph) aligned() bool {
	return slices.ContainsFunc(p.text, func(line string) bool {
		return strings.Contains(strings.TrimSpace(line), "  ") || strings.Contains(strings.TrimSpace(line), "\t")
	})
}

// fill puts as many pieces on each line as fit, and at least one.
func (p paragraph) fill() []string {
	var out []string
	line, empty := p.head, true
	for _, piece := range pieces(strings.Join(p.text, " ")) {
		if !empty && columns(line)+1+columns(piece) > Width {
			out = append(out, line)
			line, empty = p.rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+piece, false
	}
	return append(out, line)
}

var (
	// spaceless matches what stands without a space outside of code in backquotes; such code is one piece if it fits on
	// a line.
	spaceless = lazy.Regexp("^(?:[^\\s`]|`[^`]{1,100}`)+\\S*")
	// telling matches a word that would make a line that begins with it a list, a heading, a quotation, a table, HTML
	// or a marker.
	telling = lazy.Regexp("^(?:[-*•+=|>#:~`<].*|\\d+[.)]|(?:Unordered )?[Oo]utput:.*|\\[[^]]*\\]:.*)$")
)

// pieces returns the parts of a text between which a line may end: words, but code in backquotes is one, and a telling
// word stays with the one before. A telling first letter is no harm where code begins a line, if it is a single
// backquote.
func pieces(text string) []string {
	var found []string
	for _, word := range words(text) {
		code := strings.HasPrefix(word, "`") && !strings.HasPrefix(word, "``")
		emphasis := strings.HasPrefix(word, "**") && len(word) > 2
		if len(found) > 0 && !code && !emphasis && telling().MatchString(word) {
			found[len(found)-1] += " " + word
		} else {
			found = append(found, word)
		}
	}
	return found
}

// words splits a text at spaces outside of code.
func words(text string) []string {
	var found []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " \t") {
		end := len(text)
		if space := strings.IndexAny(text, " \t"); space >= 0 {
			end = space
		}
		if found := spaceless().FindString(text); len(found) > end {
			end = len(found)
		}
		found = append(found, strings.Join(strings.Fields(text[:end]), " "))
		text = text[end:]
	}
	return found
}

package words_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dialect finds words that name no actor, or that stand for report, print, list, show and warn.
var dialect = regexp.MustCompile(`(?i)\b(nobody|anybody|somebody|whoever|he|tells?|told|telling|sa(?:y|ys|id) of)\b`)

// subjectless finds sentences whose subject is a clause that begins with What, Of or Where. Questions are none.
var subjectless = regexp.MustCompile(`(?:^|[.!?]\s+|\n\s*\n\s*)((?:What|Of|Where)\s[^.?!]*)(\?|[.!]|$)`)

// banned returns what a text has of words and sentences that the rules for prose refuse.
func banned(text string, terms []entry) []string {
	found := dialect.FindAllString(text, -1)
	for _, m := range subjectless.FindAllStringSubmatch(text, -1) {
		if m[2] != "?" {
			found = append(found, first(m[1], 40))
		}
	}
	return append(found, synonyms(text, terms)...)
}

// first is the beginning of a text.
func first(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}

// TestMessagesUsePlainWords: messages and help name who does what, with the words that the glossary settles.
func TestMessagesUsePlainWords(t *testing.T) {
	terms := entries(t)
	for _, dir := range speaking {
		for _, m := range messages(t, dir) {
			text := inserted.ReplaceAllString(m.text, "x")
			if slices.Contains([]string{"what", "hint", "error", "short"}, m.role) && text != "" {
				text = strings.ToUpper(text[:1]) + text[1:]
			}
			for _, word := range banned(text, terms) {
				t.Errorf("%s: %q is no plain word in a message: %s", m.file, word, first(m.text, 120))
			}
			for _, sentence := range long(m.text) {
				t.Errorf("%s: a sentence of a message has more than %d words: %s", m.file, longest, sentence)
			}
		}
	}
}

// longest is how many words a sentence has at most.
const longest = 25

var (
	blocks = regexp.MustCompile(`\n\s*\n|\n +`)
	parts  = regexp.MustCompile(`[.;:?!]\s+`)
)

// long returns the sentences of a text that have too many words; lists, examples and what a colon or a semicolon
// divides count by themselves.
func long(text string) []string {
	var found []string
	for _, block := range blocks.Split(text, -1) {
		for _, sentence := range parts.Split(block, -1) {
			words := strings.Fields(sentence)
			words = slices.DeleteFunc(words, func(word string) bool {
				return !strings.ContainsAny(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz")
			})
			if len(words) > longest {
				found = append(found, sentence)
			}
		}
	}
	return found
}

// TestPagesUsePlainWords: the same of docs and of the examples' pages.
func TestPagesUsePlainWords(t *testing.T) {
	for _, page := range files(t, ".md") {
		if !isPage(page) {
			continue
		}
		for _, word := range banned(proseOf(readText(t, page)), nil) {
			t.Errorf("%s: %q is no plain word on a page", page, word)
		}
	}
}

// isPage reports whether a Markdown file is read by users: README, docs in English and the examples' pages.
func isPage(file string) bool {
	return file == "README.md" || strings.HasPrefix(file, "docs/") && !strings.HasPrefix(file, "docs/zh/") ||
		strings.HasPrefix(file, "examples/") && path.Base(file) == "README.md"
}

var (
	code    = regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```")
	inline  = regexp.MustCompile("`[^`]*`")
	heading = regexp.MustCompile(`(?m)^#.*$`)
	cells   = regexp.MustCompile(`(?m)^\s*\|.*$`)
	bullet  = regexp.MustCompile(`(?m)^\s*(?:[-*]|\d+\.)\s+`)
	marks   = regexp.MustCompile(`\*\*|<!--.*?-->`)
)

// proseOf is the text of a page without code, with items of lists and rows of tables as paragraphs. Cells and headings
// are rarely sentences: their words count, not how they begin.
func proseOf(page string) string {
	page = code.ReplaceAllString(page, "\n\n")
	page = inline.ReplaceAllString(page, "x")
	page = marks.ReplaceAllString(page, "")
	page = heading.ReplaceAllStringFunc(page, func(line string) string { return "\n\n" + line + "\n\n" })
	page = cells.ReplaceAllStringFunc(page, func(line string) string { return "\n\n" + line + "\n\n" })
	return bullet.ReplaceAllString(page, "\n\n")
}

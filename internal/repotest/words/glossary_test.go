package words_test

import (
	"regexp"
	"strings"
	"sync"
	"testing"
)

// glossary is the page that settles one term for each thing.
const glossary = "docs/reference/glossary.md"

// row is a line of its tables: a term, what it means, and the words that it rejects.
var row = regexp.MustCompile(`(?m)^\| ([^|\n]+) \| ([^|\n]+) \| ?([^|\n]*?) ?\|$`)

// entry is a term of the glossary.
type entry struct {
	term, meaning string
	rejected      []string
}

// entries reads the glossary.
func entries(t *testing.T) []entry {
	t.Helper()
	var all []entry
	for _, m := range row.FindAllStringSubmatch(readText(t, glossary), -1) {
		if m[1] == "term" {
			continue
		}
		e := entry{term: m[1], meaning: m[2]}
		if m[3] != "" {
			e.rejected = strings.Split(m[3], ", ")
		}
		all = append(all, e)
	}
	return all
}

// synonyms returns the words in a text that the glossary rejects.
func synonyms(text string, terms []entry) []string {
	var found []string
	for _, e := range terms {
		for _, word := range e.rejected {
			if pattern(word).MatchString(text) {
				found = append(found, word+", instead of "+e.term)
			}
		}
	}
	return found
}

var patterns sync.Map

// pattern finds a word, or several.
func pattern(words string) *regexp.Regexp {
	if p, ok := patterns.Load(words); ok {
		return p.(*regexp.Regexp)
	}
	p := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(words) + `s?\b`)
	patterns.Store(words, p)
	return p
}

// TestGlossary: each term stands there once, with a meaning on one line, and no term is a word that another rejects.
func TestGlossary(t *testing.T) {
	terms := entries(t)
	if len(terms) < 40 {
		t.Errorf("found only %d terms in %s", len(terms), glossary)
	}
	seen := map[string]bool{}
	for _, e := range terms {
		if seen[e.term] {
			t.Errorf("%s has %q twice", glossary, e.term)
		}
		seen[e.term] = true
		if found := synonyms(e.term+" "+e.meaning, terms); len(found) > 0 {
			t.Errorf("%s: %q uses %q", glossary, e.term, found)
		}
		if words := len(strings.Fields(e.meaning)); words > 25 {
			t.Errorf("%s: %q is explained in %d words", glossary, e.term, words)
		}
	}
}

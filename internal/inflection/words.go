package inflection

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// separators stand between words. Each is cut off the ends of a word in this order, and once.
const separators = "_ :-/"

// words takes a name apart.
func (l lexicon) words(name string) []string {
	name = strings.TrimSpace(name)
	if l.isAcronym(name) {
		return []string{strings.ToUpper(name)}
	}
	var words []string
	begin, last := 0, rune(0)
	end := func(at, next int) {
		if word := l.word(name[begin:at]); word != "" {
			words = append(words, word)
		}
		begin = next
	}
	for i, c := range name {
		_, size := utf8.DecodeRuneInString(name[i:])
		switch {
		case isSeparator(c), unicode.IsUpper(c) && (!unicode.IsUpper(last) || l.isAcronym(name[begin:i])):
			end(i, i)
		case !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsPunct(c) && c != '`':
			end(i, i+size)
		}
		last = c
	}
	end(len(name), len(name))
	return words
}

func isSeparator(c rune) bool { return strings.ContainsRune(separators, c) || unicode.IsSpace(c) }

// word is a word without what separated it from others.
func (l lexicon) word(text string) string {
	text = strings.TrimSpace(text)
	for _, c := range separators {
		text = strings.Trim(text, string(c))
	}
	if l.isAcronym(text) {
		return strings.ToUpper(text)
	}
	return text
}

// capitalized is a word with a capital first letter.
func capitalized(word string) string {
	letters := []rune(word)
	if len(letters) == 0 {
		return ""
	}
	letters[0] = unicode.ToTitle(letters[0])
	return string(letters)
}

func (l lexicon) camelCase(name string) string {
	words := l.words(name)
	var joined strings.Builder
	for i, word := range words {
		word = strings.Map(letterOrDigit, word)
		switch letters := []rune(word); {
		case i == 0:
			word = strings.Map(unicode.ToLower, word)
		case len(letters) > 0:
			letters[0] = unicode.ToUpper(letters[0])
			word = string(letters)
		}
		joined.WriteString(word)
	}
	camel := joined.String()
	if camel == "" {
		return ""
	}
	capitals := 1
	if l.isAcronym(words[0]) {
		capitals = min(len(words[0]), len(camel))
	}
	return strings.ToUpper(camel[:capitals]) + camel[capitals:]
}

// letterOrDigit drops all other characters.
func letterOrDigit(c rune) rune {
	if unicode.IsLetter(c) || unicode.IsDigit(c) {
		return c
	}
	return -1
}

// irregular is the plural of a word or name as a whole, if it is one of the user's or an irregular one.
func (l lexicon) irregular(word string) (plural string, ok bool) {
	if plural, ok := l.plurals[word]; ok {
		return plural, true
	}
	for _, c := range irregular {
		if c.has(word) {
			return c.plural(word), true
		}
	}
	return "", false
}

// isPlural says whether a word or name as a whole is a plural of the user's or of an irregular word.
func (l lexicon) isPlural(word string) bool {
	for _, plural := range l.plurals {
		if plural == word {
			return true
		}
	}
	for _, c := range irregular {
		if start, ok := strings.CutSuffix(word, c.got); ok && !c.oneWay && c.has(start+c.lost) {
			return true
		}
	}
	return isListed(seconds, word)
}

func (l lexicon) isAcronym(word string) bool {
	word = strings.ToUpper(word)
	return slices.Contains(l.acronyms, word) || isListed(acronyms, word)
}

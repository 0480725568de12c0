package inflection

import "strings"

// Vocabulary is every word of the tables.
var Vocabulary = func() string {
	words := []string{seconds, acronyms}
	for _, table := range [][]change{irregular, regular} {
		for _, c := range table {
			words = append(words, c.words)
			for word := range strings.FieldsSeq(c.words) {
				words = append(words, c.plural(word))
			}
		}
	}
	return strings.Join(words, " ")
}()

// Package inflection makes the plurals of kinds by the same English rules as controller-gen, whose library is flect.
//
//	inflection.Plural("CronJob")     // CronJobs
//	inflection.Plural("MyPolicy")    // MyPolicies
//	inflection.CamelCase("cron_job") // CronJob
//
// A plural depends on the last word of a name, so names are taken apart first: a word begins at a capital letter, and
// behind a dash, a space and the like. Known acronyms are one word. The tables are static data that no start of the
// program pays for; flect sorts its own whenever a program begins that it is linked into.
//
// Users add words of theirs in inflections.json and acronyms.json, as they do for controller-gen: see [Files].
package inflection

import "strings"

// Plural returns the plural of a name in camel case. It is the name itself if that is a plural already.
func Plural(name string) string { return own().plural(name) }

// CamelCase returns the name in camel case with a capital first letter, whose acronyms are in capitals.
func CamelCase(name string) string { return own().camelCase(name) }

func (l lexicon) plural(name string) string {
	words := l.words(name)
	if len(words) == 0 {
		return ""
	}
	if plural, ok := l.whole(name); ok {
		return plural
	}
	word := words[len(words)-1]
	return l.last(name, strings.TrimSuffix(name, word), word)
}

// whole is the plural of a name that the lexicon has as a whole.
func (l lexicon) whole(name string) (plural string, ok bool) {
	if plural, ok := l.irregular(name); ok {
		return plural, true
	}
	return name, l.isPlural(name)
}

// last is the plural of a name that is a beginning and a last word. An acronym in small letters is part of the
// beginning too, since the word is in capitals: the plural of MyDns is MyDnsDNSes, and controller-gen's as well.
func (l lexicon) last(name, beginning, word string) string {
	small := strings.ToLower(word)
	if l.isPlural(small) {
		return name
	}
	if plural, ok := l.irregular(small); ok {
		if word == capitalized(word) {
			plural = capitalized(plural)
		}
		return beginning + plural
	}
	if plural, ok := byEnding(word); ok {
		return beginning + plural
	}
	if strings.HasSuffix(small, "s") {
		return name
	}
	return name + "s"
}

// byEnding is the plural by the longest ending that the tables know: that of a singular, which changes, or that of a
// plural, which stays.
func byEnding(word string) (plural string, ok bool) {
	longest := 0
	for _, table := range [][]change{irregular, regular} {
		for _, c := range table {
			if c.alone {
				continue
			}
			if n := c.longestIn(word, c.lost); n > longest {
				longest, plural = n, c.plural(word)
			}
			if n := c.longestIn(word, c.got); n > longest {
				longest, plural = n, word
			}
		}
	}
	return plural, longest > 0
}

package devlog

import "strings"

// A Filter decides which lines are shown. The zero Filter shows all.
type Filter struct {
	Level   Level    // the least one
	Sources []string // parts of names of loggers, controllers and objects, in lower case; without any all are shown
}

// ParseFilter reads a filter as a user types it: the name of a level, parts of names, or both, between blanks.
func ParseFilter(text string) (f Filter) {
	for _, word := range strings.Fields(strings.ToLower(text)) {
		if level := ParseLevel(word); level != Unknown {
			f.Level = level
		} else {
			f.Sources = append(f.Sources, word)
		}
	}
	return f
}

// String is the filter as it is typed.
func (f Filter) String() string {
	words := f.Sources
	if f.Level != Unknown {
		words = append([]string{strings.ToLower(f.Level.String())}, words...)
	}
	return strings.Join(words, " ")
}

// Shows reports whether a line passes. A line that is not structured does: it may be a panic, and what it belongs to
// is not known.
func (f Filter) Shows(l Line) bool {
	if !l.Structured {
		return true
	}
	if l.Level != Unknown && l.Level < f.Level {
		return false
	}
	if len(f.Sources) == 0 {
		return true
	}
	names := strings.ToLower(l.Logger + "\n" + l.Controller + "\n" + l.Object)
	for _, part := range f.Sources {
		if strings.Contains(names, part) {
			return true
		}
	}
	return false
}

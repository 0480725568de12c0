package ui

import (
	"fmt"
	"strings"
	"unicode"
)

// plain is a text without what makes a terminal do something: names of files and messages may be a hostile
// repository's, image's or pod's. Such characters are shown as Go writes them.
func plain(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.IndexFunc(text, acts) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !acts(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(fmt.Sprintf("%+q", r), "'"))
	}
	return b.String()
}

// acts reports whether a terminal does something with a character other than to show it or to begin a new line. Those
// that change the direction of text make it look like another one.
func acts(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// Package ansi writes text for terminals: without what a terminal acts on, and in colours.
package ansi

import (
	"fmt"
	"strings"
	"unicode"
)

// Color is the middle of an escape sequence (ECMA-48, SGR).
type Color string

// The colours and weights of what people are shown.
const (
	Bold    Color = "1"
	Faint   Color = "2"
	Red     Color = "1;31"
	Green   Color = "32"
	Yellow  Color = "33"
	Blue    Color = "34"
	Magenta Color = "35"
	Cyan    Color = "36"
)

// Paint colours text where colours are wanted.
func Paint(wanted bool, c Color, text string) string {
	if !wanted || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// Plain is a text without what makes a terminal do something: names of files and messages may be a hostile
// repository's, image's or pod's. Such characters are shown as Go writes them, and bytes that are no UTF-8 as U+FFFD.
func Plain(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
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

package othertools

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// For is [Command.Ours] with the names that the user typed: of the image, and of kind's cluster. Words are those that
// were typed after slipway, with all flags.
func (c Command) For(words []string) string {
	ours := strings.Fields(c.Ours)
	if at := slices.Index(ours, c.Takes); at >= 0 {
		if name := c.named(words); name != "" {
			ours[at] = name
		}
	}
	if name := flagValue(words, "--name", "-n"); c.Cluster && usable(name) {
		ours = append(ours, "--cluster", name)
	}
	return strings.Join(ours, " ")
}

// named is what the user put in the place of [Command.Takes]; empty if that is nothing that can be repeated.
func (c Command) named(words []string) string {
	name := ""
	if len(c.TakenFrom) > 0 {
		name = flagValue(words, c.TakenFrom...)
	} else if typed, length := plain(words), c.length(words); length < len(typed) {
		name = typed[length]
	}
	if !usable(name) {
		return ""
	}
	return name
}

// length is how many of the words are the command's own.
func (c Command) length(words []string) (longest int) {
	for _, form := range c.forms() {
		if want := strings.Fields(form); hasPrefix(plain(words), want) {
			longest = max(longest, len(want))
		}
	}
	return longest
}

// flagValue is the value of a flag that has one of some names.
func flagValue(words []string, names ...string) string {
	for i, word := range words {
		name, value, joined := strings.Cut(word, "=")
		switch {
		case !slices.Contains(names, name):
		case joined:
			return value
		case i+1 < len(words):
			return words[i+1]
		}
	}
	return ""
}

// name is what images, files and clusters are called, without what means something to a shell.
var name = lazy.Regexp(`^[A-Za-z0-9/.][A-Za-z0-9._:/@-]*$`)

func usable(text string) bool { return name().MatchString(text) }

package othertools

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// For is [Command.Ours] with the names that the user typed: of the image, and of kind's cluster; and with all flags, if
// they are the same. Words are those that were typed after slipway, with all flags.
func (c Command) For(words []string) string {
	ours := strings.Fields(c.Ours)
	name := c.named(words)
	if at := slices.Index(ours, c.Takes); at >= 0 && name != "" {
		ours[at] = name
	}
	if c.Adds != "" && name != "" {
		ours = append(ours, c.Adds, name)
	}
	if name := flagValue(words, "--name", "-n"); c.Cluster && usable(name) {
		ours = append(ours, "--cluster", name)
	}
	if flags := words[len(plain(words)):]; c.SameFlags && len(flags) > 0 && !slices.ContainsFunc(flags, strange) {
		ours = append(plain(ours), flags...)
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

// strange reports whether a shell would take a typed word otherwise than as it is.
func strange(word string) bool {
	return shellword.Quote(strings.TrimLeft(word, "-")) != strings.TrimLeft(word, "-")
}

// Package othertools maps the commands of the tools that users come from to slipway's.
//
// [Commands] is the table. The page docs/reference/other-tools.md shows it, and the command line answers with it when
// one of these commands is typed after slipway, with the tool's name before it or without:
//
//	if c, ok := othertools.Lookup([]string{"kind", "create", "cluster"}); ok { … c.Ours … }
package othertools

import (
	"slices"
	"strings"
)

// Command is a command of another tool.
type Command struct {
	Tool   string // its name: kubebuilder, kind, make
	Theirs string // the words after it, without flags that vary
	// Ours is the command that does the same; empty where none is needed or none exists.
	Ours string
	// Note says what differs, or why there is no command.
	Note string
	// Typed are other forms in which users type the command after slipway, such as "cluster create".
	Typed []string

	// Takes is the word of Ours that stands for a name which the user types: the first word after the command, or the
	// value of one of the flags TakenFrom.
	Takes     string
	TakenFrom []string // or variables of make
	Adds      string   // a flag of ours that gets the name instead, if one was typed
	Cluster   bool     // the tool's flag --name is ours for the cluster
	SameFlags bool     // ours takes the tool's flags: those that were typed stand in place of the flags of Ours
}

// Lookup returns the command that begins with the most of the given words, which were typed after slipway. Words after
// the first flag are passed over. Between two commands with the same words the one wins whose flags were typed, then
// the one whose tool was.
func Lookup(words []string) (Command, bool) {
	var best Command
	most := 0
	for _, c := range Commands() {
		if score := c.score(words); score > most {
			best, most = c, score
		}
	}
	return best, most > 0
}

// score is how well c fits the words; 0 if it does not.
func (c Command) score(words []string) int {
	score := 4 * c.length(words)
	if score > 0 && c.flagsIn(words) {
		score += 2
	}
	if score > 0 && words[0] == c.Tool {
		score++
	}
	return score
}

// forms are what users may type after slipway for c.
func (c Command) forms() []string {
	forms := append([]string{c.Tool + " " + c.Theirs}, c.Typed...)
	if c.Theirs != "" && (c.Tool == "make" || c.Tool == "kubebuilder") {
		forms = append(forms, c.Theirs)
	}
	for i, form := range forms {
		forms[i] = strings.Join(plain(strings.Fields(form)), " ")
	}
	return forms
}

// flagsIn says whether c has flags, and all of them are among the words.
func (c Command) flagsIn(words []string) bool {
	has := false
	for _, flag := range strings.Fields(c.Theirs) {
		if !strings.HasPrefix(flag, "-") {
			continue
		}
		if has = slices.ContainsFunc(words, func(w string) bool { return w == flag || strings.HasPrefix(w, flag+"=") }); !has {
			return false
		}
	}
	return has
}

// plain are the words before the first flag.
func plain(words []string) []string {
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			return words[:i]
		}
	}
	return words
}

func hasPrefix(words, prefix []string) bool {
	if len(words) < len(prefix) {
		return false
	}
	for i, w := range prefix {
		if words[i] != w {
			return false
		}
	}
	return true
}

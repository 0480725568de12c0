package kubebuilderchart

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

type helper struct {
	name string
	line int    // of its define
	text string // with the comment above it
	body string // from define to end
}

var (
	nesting   = lazy.Regexp(`\{\{-?\s*(if|with|range|block|define|end)\b`)
	defines   = lazy.Regexp(`\{\{-?\s*define\s+"([^"]+)"\s*-?\}\}`)
	includes  = lazy.Regexp(`\b(?:include|template)\s+"([^"]+)"`)
	ourHelper = lazy.Regexp(`define "([^"]+)"`)
)

// pluginHelpers are the plug-in's named templates, without the chart's name.
var pluginHelpers = []string{
	"name", "fullname", "chart", "labels", "selectorLabels", "serviceAccountName", "namespaceName", "resourceName",
	"hasMutatingWebhooks", "hasValidatingWebhooks",
}

// fromPlugin are the digests of the helpers and notes of kubebuilder 4.16, in both forms of the chart; see
// [Chart.digest].
var fromPlugin = []string{
	"e29de8281f35", "b8362f7cc6eb", "a2ecd35ce3f3", "58aa68d808c9", "5745591bdd28", "16ccbfee3916",
	"9eeffed7d7ca", "a9fe23a51106", "7536ba2a935e", "eb4d207720bd", "60fdad9d0d0c",
}

// helpers returns the named templates of a text. It skips one that has no end.
func helpers(text string) []helper {
	var all []helper
	begin, line, counted := 0, 1, 0
	for {
		found := defines().FindStringSubmatchIndex(text[begin:])
		if found == nil {
			return all
		}
		define := begin + found[0]
		end := closing(text, define)
		if end < 0 {
			return all
		}
		line, counted = line+strings.Count(text[counted:define], "\n"), define
		all = append(all, helper{
			name: text[begin+found[2] : begin+found[3]], line: line,
			text: strings.TrimSpace(text[begin:end]), body: text[define:end],
		})
		begin = end
	}
}

// closing returns the offset after the end of a define, or -1.
func closing(text string, define int) int {
	depth, at := 0, define
	for {
		found := nesting().FindStringSubmatchIndex(text[at:])
		if found == nil {
			return -1
		}
		opens := text[at+found[2]:at+found[3]] != "end"
		at += found[1]
		if opens {
			depth++
			continue
		}
		if depth--; depth > 0 {
			continue
		}
		if rest := strings.Index(text[at:], "}}"); rest >= 0 {
			return at + rest + len("}}")
		}
		return -1
	}
}

// digest identifies a text of the plug-in, whatever the chart's name and its indentation are.
func (c *Chart) digest(text string) string {
	var plain strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		plain.WriteString(strings.TrimSpace(c.words.name.ReplaceAllString(line, "")) + "\n")
	}
	sum := sha256.Sum256([]byte(plain.String()))
	return hex.EncodeToString(sum[:6])
}

// isHelper reports whether the plug-in has a helper of this name.
func (c *Chart) isHelper(name string) bool {
	chart, short, ok := strings.Cut(name, ".")
	return ok && (chart == c.Name || chart == "chart") && slices.Contains(pluginHelpers, short)
}

// Helpers returns the text of named templates that stay: the user's, and those that remaining files include. Made is
// the text of the helpers made now. Notes list helpers of the plug-in that are replaced or removed although the user
// may have changed them.
func (c *Chart) Helpers(made string, stays []string) (text string, notes []string) {
	there := map[string]bool{}
	for _, found := range ourHelper().FindAllStringSubmatch(made, -1) {
		there[found[1]] = true
	}
	all := helpers(c.files[Helpers])
	needed := c.needed(all, stays)
	var kept []string
	for _, h := range all {
		switch {
		case there[h.name] || c.isHelper(h.name) && !needed[h.name]:
			if !slices.Contains(fromPlugin, c.digest(h.body)) {
				notes = append(notes, fmt.Sprintf("%s:%d: %s is replaced or left out, but differs from the text of kubebuilder 4.16: check it for your changes", Helpers, h.line, h.name))
			}
		default:
			kept = append(kept, h.text)
		}
	}
	return strings.Join(kept, "\n\n"), notes
}

// needed returns the named templates that remaining files or the user's templates include, also indirectly.
func (c *Chart) needed(all []helper, stays []string) map[string]bool {
	bodies, needed := map[string][]string{}, map[string]bool{}
	next := slices.Collect(maps.Keys(named(stays)))
	for _, h := range all {
		bodies[h.name] = append(bodies[h.name], h.body)
		if !c.isHelper(h.name) {
			next = append(next, slices.Collect(maps.Keys(named([]string{h.body})))...)
		}
	}
	for len(next) > 0 {
		name := next[len(next)-1]
		next = next[:len(next)-1]
		if !needed[name] {
			needed[name] = true
			next = append(next, slices.Collect(maps.Keys(named(bodies[name])))...)
		}
	}
	return needed
}

// OwnHelpers returns the text of the user's named templates.
func (c *Chart) OwnHelpers() string {
	var own []string
	for _, h := range helpers(c.files[Helpers]) {
		if !c.isHelper(h.name) {
			own = append(own, h.text)
		}
	}
	return strings.Join(own, "\n")
}

// named returns the named templates that texts include.
func named(texts []string) map[string]bool {
	names := map[string]bool{}
	for _, text := range texts {
		for _, found := range includes().FindAllStringSubmatch(text, -1) {
			names[found[1]] = true
		}
	}
	return names
}

// OwnNotes reports whether the user changed NOTES.txt.
func (c *Chart) OwnNotes() bool {
	text := c.files[NotesFile]
	return text != "" && !slices.Contains(fromPlugin, c.digest(text))
}

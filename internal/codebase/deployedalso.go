package codebase

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/recipe"
)

// changingSubcommands are the subcommands of kubectl, oc and helm that change a cluster.
var changingSubcommands = []string{"apply", "create", "replace", "patch", "set", "annotate", "label", "delete", "scale", "expose", "run", "upgrade", "install"}

// changesCluster reports whether a call changes the cluster beyond the kustomizations that are applied. Applying
// standard input or a file in written does not count: that is what another command built.
func (r *appliedReader) changesCluster(call recipe.Call, written []string) bool {
	words := call.Arguments
	verb := slices.IndexFunc(words, func(word string) bool { return slices.Contains(changingSubcommands, word) })
	if verb < 0 || slices.ContainsFunc(words[:verb], func(word string) bool {
		return slices.Contains([]string{"get", "wait", "rollout", "describe", "logs", "kustomize", "template", "repo", "auth", "config"}, word)
	}) {
		return false
	}
	if printed := slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--dry-run") }); printed {
		return slices.ContainsFunc(call.Into, func(next string) bool { return next == "kubectl" || next == "oc" })
	}
	for _, name := range []string{"f", "filename"} {
		file, named := recipe.Flag(words, name)
		if !named {
			continue
		}
		place, _ := recipe.Below(call.Dir, file)
		return file != "-" && file != "/dev/stdin" && !slices.Contains(written, place)
	}
	return true
}

func writtenBy(calls []recipe.Call) (files []string) {
	for _, call := range calls {
		files = append(files, call.Writes...)
	}
	return files
}

// shownCall formats a call for messages. It hides what follows "=", which may be secret, as in --from-literal=token=….
func shownCall(program string, words []string) string {
	shown := []string{program}
	for _, word := range words {
		if name, _, has := strings.Cut(word, "="); has {
			word = name + "=…"
		}
		shown = append(shown, strings.ReplaceAll(word, recipe.Unknown, "…"))
	}
	return strings.Join(shown, " ")
}

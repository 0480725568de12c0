package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/project"
)

// A completer gives the words that a shell may complete an argument or a flag's value with. It only reads
// files, starts no program and says nothing of what it cannot read.
type completer = cobra.CompletionFunc

// completeWith has the shell complete all of a command's values that name what exists: clusters, images and kinds.
func (inv *invocation) completeWith(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		inv.completeWith(below)
	}
	switch {
	case cmd.ValidArgsFunction != nil || cmd.ValidArgs != nil:
	case strings.HasSuffix(cmd.Use, " [NAME]"):
		cmd.ValidArgsFunction = atMostOne(inv.completeCluster)
	case cmd.HasParent() && cmd.Parent().Name() == "image" && slices.Contains([]string{"push", "inspect", "save", "remove"}, cmd.Name()):
		cmd.ValidArgsFunction = inv.completeImage
	case cmd.HasParent() && cmd.Parent().Name() == "image" && cmd.Name() == "load":
		cmd.ValidArgsFunction = inv.completeImageOrFile
	}
	for flag, complete := range inv.flagCompleters(cmd) {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, complete) // the flag is there, and has none yet
		}
	}
}

// flagCompleters are those of a command's flags that name what exists.
func (inv *invocation) flagCompleters(cmd *cobra.Command) map[string]completer {
	if cmd.HasParent() && cmd.Parent().Name() == "create" || cmd.HasParent() && cmd.Parent().Name() == "delete" {
		return map[string]completer{
			"group":   inv.completeKind(func(r project.Resource) string { return r.Group }),
			"version": inv.completeKind(func(r project.Resource) string { return r.Version }),
			"kind":    inv.completeKind(func(r project.Resource) string { return r.Kind }),
		}
	}
	return map[string]completer{"cluster": inv.completeCluster, "image": inv.completeImage}
}

// atMostOne completes the first argument alone.
func atMostOne(first completer) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return first(cmd, args, typed)
	}
}

// completeCluster completes the name of a cluster of which there is state.
func (inv *invocation) completeCluster(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return clusters.Names(inv.session()), cobra.ShellCompDirectiveNoFileComp
}

// completeImage completes the name of an image that was built.
func (inv *invocation) completeImage(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return images.Names(inv.session()), cobra.ShellCompDirectiveNoFileComp
}

// completeImageOrFile completes such a name, or that of an archive.
func (inv *invocation) completeImageOrFile(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, _ := inv.completeImage(cmd, args, typed)
	return names, cobra.ShellCompDirectiveDefault
}

// completeKind completes a part of the name of a kind that the project has, among those that fit the parts given.
func (inv *invocation) completeKind(part func(project.Resource) string) completer {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var parts []cobra.Completion
		for _, r := range operation.Kinds(inv.session()) {
			if fits(cmd, "group", r.Group) && fits(cmd, "version", r.Version) && fits(cmd, "kind", r.Kind) && !slices.Contains(parts, part(r)) {
				parts = append(parts, part(r))
			}
		}
		return parts, cobra.ShellCompDirectiveNoFileComp
	}
}

// fits reports whether a flag was not given, or with this value.
func fits(cmd *cobra.Command, flag, value string) bool {
	f := cmd.Flags().Lookup(flag)
	return f == nil || !f.Changed || f.Value.String() == value
}

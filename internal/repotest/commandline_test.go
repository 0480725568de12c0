package repotest_test

import (
	"slices"
	"strings"
	"testing"
)

// flagged are the packages of the command's module that may know flags and commands, and why.
var flagged = map[string]string{
	"internal/cli":                "the command line of slipway",
	"internal/kustomize":          "kustomize's own commands, which are cobra's",
	"internal/codegen/kubernetes": "Kubernetes' code generators take their options as flags",
	"internal/generate/arguments": "calls of controller-gen in a Makefile have flags",
}

// TestOnlyCommandLinesHaveFlags: what verbs do is there for other callers, too, so it takes values.
func TestOnlyCommandLinesHaveFlags(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		if !slices.ContainsFunc(p.imports, func(imp string) bool {
			return imp == "github.com/spf13/cobra" || imp == "github.com/spf13/pflag" || strings.HasPrefix(imp, "sigs.k8s.io/kustomize/kustomize/v5/commands")
		}) {
			continue
		}
		used[p.dir] = true
		first, _, _ := strings.Cut(p.dir, "/")
		if flagged[p.dir] == "" && slices.Contains([]string{"cmd", "internal", "project"}, first) {
			t.Errorf("%s knows flags or commands: read them in internal/cli, and take values", p.dir)
		}
	}
	for dir := range flagged {
		if !used[dir] {
			t.Errorf("%s knows no flags and no commands", dir)
		}
	}
}

// needed are the packages of this module that the command line may import, and why.
var needed = map[string]string{
	"internal/operation":            "the session that all verbs share",
	"internal/operation/agents":     "what coding agents may call",
	"internal/operation/charts":     "what verbs do for charts",
	"internal/operation/clusters":   "what verbs do with clusters",
	"internal/operation/delivery":   "what verbs do to put a project into a cluster",
	"internal/operation/generation": "what verbs generate",
	"internal/operation/images":     "what verbs do with images",
	"internal/operation/projects":   "what verbs change in a project",
	"internal/operation/suites":     "what verbs run",
	"internal/operation/devloop":    "an operation",
	"internal/operation/tools":      "what verbs do with slipway itself",
	"internal/operation/proving":    "what an operator does when something fails",
	"internal/operation/upgrades":   "upgrades between two revisions of a project",
	"internal/ending":               "a process ends with it",
	"internal/report":               "mistakes on the command line",
	"internal/ui":                   "how events and errors are shown",
	"internal/ui/devscreen":         "how the dev loop is shown on a terminal",
	"internal/collector":            "a process begins with it",
	"internal/othertools":           "what a command of another tool is here",
	"internal/shellword":            "a call to repeat, as a shell takes it",
	"internal/spelling":             "the flag that a misspelt one is nearest to",
	"internal/lazy":                 "regular expressions that no start pays for",
	"internal/kustomize":            "a command line of its own",
	"internal/generate":             "arguments and help of controller-gen, which are the generators' own",
	"project":                       "what the parts of a kind's name may be, which is asked for",
}

// TestCommandLineRunsOperations: a verb is flags, one operation and an exit code. What strings facades together is
// an operation.
func TestCommandLineRunsOperations(t *testing.T) {
	imported := map[string]bool{}
	for _, p := range packages(t) {
		if p.dir != "internal/cli" {
			continue
		}
		for _, imp := range p.imports {
			dir, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			imported[dir] = true
			if needed[dir] == "" {
				t.Errorf("internal/cli imports %s: have a package below internal/operation do what it is for", dir)
			}
		}
	}
	for dir := range needed {
		if !imported[dir] {
			t.Errorf("internal/cli does not import %s", dir)
		}
	}
}

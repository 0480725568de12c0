package cli

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/othertools"
	"github.com/slipway-dev/slipway/internal/report"
)

var updatePage = flag.Bool("update-other-tools", false, "rewrite the tables of docs/reference/other-tools.md")

// TestOtherToolsAreAnswered: each command that stands in for one of another tool exists, with its flags.
func TestOtherToolsAreAnswered(t *testing.T) {
	root := (&invocation{Env: Env{Getenv: func(string) string { return "" }}}).root()
	for _, c := range othertools.Commands() {
		if c.Ours != "" {
			checkOurs(t, root, c.Tool+" "+c.Theirs, c.Ours)
		}
	}
	for _, s := range tutorialSteps() {
		if s.Ours != "" {
			checkOurs(t, root, s.Theirs, s.Ours)
		} else if s.Note == "" {
			t.Errorf("%q has neither command nor note", s.Theirs)
		}
	}
}

// checkOurs wants a command of slipway, with its flags, for what a user of another tool does.
func checkOurs(t *testing.T, root *cobra.Command, theirs, ours string) {
	t.Helper()
	words := strings.Fields(ours)
	cmd, rest, err := root.Find(words[1:])
	if words[0] != "slipway" || err != nil || cmd == root {
		t.Errorf("%s: %q is no command: %v", theirs, ours, err)
		return
	}
	if cmd.HasSubCommands() && cmd.Name() != "generate" && cmd.Name() != "setup-envtest" {
		t.Errorf("%s: %q lacks a verb", theirs, ours)
	}
	if cmd.DisableFlagParsing {
		return // another program's command line
	}
	for _, word := range rest {
		if name, ok := strings.CutPrefix(word, "--"); ok && cmd.Flags().Lookup(name) == nil {
			t.Errorf("%q: %s has no flag --%s", ours, cmd.CommandPath(), name)
		}
		if name, ok := strings.CutPrefix(word, "-"); ok && len(name) == 1 && cmd.Flags().ShorthandLookup(name) == nil {
			t.Errorf("%q: %s has no flag -%s", ours, cmd.CommandPath(), name)
		}
	}
}

// TestDocumentedCommandsAreAnswered: a command of another tool's tutorial, typed after slipway, is a command here, or
// is answered with the row of the table.
func TestDocumentedCommandsAreAnswered(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "othertools", "testdata", "documented.txt"))
	if err != nil {
		t.Fatal(err)
	}
	verbs := []string{"controller-gen", "type-scaffold", "setup-envtest", "kubectl", "kustomize"}
	for typed := range strings.Lines(string(text)) {
		words := strings.Fields(typed)
		root := (&invocation{Env: Env{Getenv: func(string) string { return "" }}}).root()
		cmd, _, err := root.Find(words)
		if slices.Contains(verbs, words[0]) {
			if err != nil || cmd == root {
				t.Errorf("slipway %s is no command: %v", words[0], err)
			}
			continue
		}
		c, _ := othertools.Lookup(words)
		answer, _ := errors.AsType[*report.Error](noSubcommand(root, words))
		if cmd != root || answer == nil || answer.Code != report.UsageCode || answer.Hint == "" || c.Ours != "" && answer.Next != c.For(words) {
			t.Errorf("slipway %s is answered with %+v", strings.Join(words, " "), answer)
		}
	}
}

// TestOtherToolsPage: the page shows the table, all of it.
func TestOtherToolsPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference", "other-tools.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- table -->\n", "<!-- end of the table -->\n"
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", path)
	}
	want := head + begin + "\n" + table() + "\n" + steps() + "\n" + end + tail
	if *updatePage {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s does not show the table of internal/othertools: go test ./internal/cli -run TestOtherToolsPage -update-other-tools", path)
	}
}

// table is the table in Markdown, in one section for each tool.
func table() string {
	var b strings.Builder
	tool := ""
	for _, c := range othertools.Commands() {
		if c.Tool != tool {
			separator := ""
			if tool != "" {
				separator = "\n"
			}
			tool = c.Tool
			fmt.Fprintf(&b, "%s### %s\n\n| %s | slipway | |\n|---|---|---|\n", separator, tool, tool)
		}
		theirs := strings.ReplaceAll(strings.TrimSpace(tool+" "+c.Theirs), "|", `\|`)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", theirs, code(c.Ours), c.Note)
	}
	return b.String()
}

// steps is the table of the steps of tutorials.
func steps() string {
	var b strings.Builder
	b.WriteString("### Steps of tutorials\n\n| step | slipway | |\n|---|---|---|\n")
	for _, s := range tutorialSteps() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.Theirs, code(s.Ours), s.Note)
	}
	return b.String()
}

func code(text string) string {
	if text == "" {
		return "–"
	}
	return "`" + text + "`"
}

// tutorialStep is a step of a tutorial for other tools that is more than one command.
type tutorialStep struct {
	Theirs string // what the tutorial has its reader do
	Ours   string // the command that does the same; empty where none is needed
	Note   string
}

// tutorialSteps are in the order in which a reader meets them.
func tutorialSteps() []tutorialStep {
	return []tutorialStep{
		{Theirs: "download an archive of kubebuilder, move it to `/usr/local/kubebuilder`, extend `PATH`", Note: "not needed"},
		{Theirs: "set `KUBEBUILDER_ASSETS` or `TEST_ASSET_…`", Ours: "slipway test ./...", Note: "sets it; your own value stays"},
		{Theirs: "clone code-generator or controller-tools, check out a tag, `go install` the generators", Note: "not needed"},
		{Theirs: "make a folder, run `go mod init`", Ours: "slipway init --repo MODULE", Note: "in an empty folder"},
		{Theirs: "move `api/*` to `apis/GROUP` and `controllers/*` to `controllers/GROUP`, correct the imports", Ours: "slipway edit --multigroup"},
		{Theirs: "uncomment the sections `[WEBHOOK]` in `config/`", Ours: "slipway create webhook", Note: "turns the sections on"},
		{Theirs: "uncomment the sections `[CERTMANAGER]`", Ours: "slipway edit --certs cert-manager"},
		{Theirs: "`kubectl apply -f …/cert-manager.yaml`", Ours: "slipway cluster add cert-manager", Note: "in an embedded cluster"},
		{Theirs: "uncomment the sections `[PROMETHEUS]`", Ours: "slipway edit --enable prometheus"},
		{Theirs: "install the Prometheus operator", Ours: "slipway cluster add prometheus-crds", Note: "its kinds; in an embedded cluster"},
		{Theirs: "grant Prometheus the role `metrics-reader`", Ours: "slipway kubectl create clusterrolebinding metrics --clusterrole PREFIX-metrics-reader --serviceaccount NAMESPACE:NAME"},
		{Theirs: "start the manager without webhooks: `make run ENABLE_WEBHOOKS=false`", Ours: "slipway run", Note: "webhooks work; the variable has the same effect"},
		{Theirs: "`kubectl apply -f config/crd/bases`", Ours: "slipway install", Note: "generates first"},
		{Theirs: "install docker, kubectl and kustomize", Note: "not needed: slipway image, kubectl and kustomize are there"},
		{Theirs: "bring up a cluster of Kubernetes", Ours: "slipway cluster start"},
	}
}

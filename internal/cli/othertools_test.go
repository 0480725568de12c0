package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/othertools"
)

var updatePage = flag.Bool("update-other-tools", false, "rewrite the tables of docs/reference/other-tools.md")

// TestOtherToolsAreAnswered: each command that stands in for one of another tool exists, with its flags.
func TestOtherToolsAreAnswered(t *testing.T) {
	root := (&invocation{Env: Env{Getenv: func(string) string { return "" }}}).root()
	for _, c := range othertools.Commands() {
		if c.Ours == "" {
			continue
		}
		words := strings.Fields(c.Ours)
		cmd, rest, err := root.Find(words[1:])
		if words[0] != "slipway" || err != nil || cmd == root {
			t.Errorf("%s %s: %q is no command: %v", c.Tool, c.Theirs, c.Ours, err)
			continue
		}
		if cmd.HasSubCommands() && cmd.Name() != "generate" && cmd.Name() != "setup-envtest" {
			t.Errorf("%s %s: %q lacks a verb", c.Tool, c.Theirs, c.Ours)
		}
		if cmd.DisableFlagParsing {
			continue // another program's command line
		}
		for _, word := range rest {
			if name, ok := strings.CutPrefix(word, "--"); ok && cmd.Flags().Lookup(name) == nil {
				t.Errorf("%q: %s has no flag --%s", c.Ours, cmd.CommandPath(), name)
			}
			if name, ok := strings.CutPrefix(word, "-"); ok && len(name) == 1 && cmd.Flags().ShorthandLookup(name) == nil {
				t.Errorf("%q: %s has no flag -%s", c.Ours, cmd.CommandPath(), name)
			}
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
	want := head + begin + "\n" + table() + "\n" + end + tail
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
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimSpace(tool+" "+c.Theirs), code(c.Ours), c.Note)
	}
	return b.String()
}

func code(text string) string {
	if text == "" {
		return "–"
	}
	return "`" + text + "`"
}

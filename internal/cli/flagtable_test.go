package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flagUse is a flag in a command.
type flagUse struct {
	flag, command string
	truth         bool // it is on or off
}

// flagUses are those of all commands below cmd. Earlier names are left out, the flags of plug-ins are not.
func flagUses(cmd *cobra.Command) []flagUse {
	var uses []flagUse
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && (!f.Hidden || f.Name == "plugins" && cmd.HasParent()) {
			_, command, _ := strings.Cut(cmd.CommandPath(), " ")
			uses = append(uses, flagUse{f.Name, command, slices.Contains([]string{"bool", "boolfunc"}, f.Value.Type())})
		}
	})
	for _, below := range cmd.Commands() {
		uses = append(uses, flagUses(below)...)
	}
	return uses
}

var inCode = regexp.MustCompile("`([^`]+)`")

// flagRows are the commands of each flag in the tables of docs/reference/flags.md: in those of one meaning, and in
// those of others.
func flagRows(t *testing.T) (one, others map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "flags.md"))
	if err != nil {
		t.Fatal(err)
	}
	one, others = map[string][]string{}, map[string][]string{}
	first, rest, _ := strings.Cut(string(text), "\n## ")
	second, _, _ := strings.Cut(rest, "\n## ")
	for into, section := range map[*map[string][]string]string{&one: first, &others: second} {
		for line := range strings.Lines(section) {
			words := inCode.FindAllStringSubmatch(line, -1)
			if !strings.HasPrefix(line, "| `--") {
				continue
			}
			flag := strings.TrimPrefix(words[0][1], "--")
			if into == &one && one[flag] != nil {
				t.Errorf("--%s has two rows in the first table: it means two things", flag)
			}
			for _, word := range words[1:] {
				(*into)[flag] = append((*into)[flag], word[1])
			}
		}
	}
	return one, others
}

// TestFlagsMeanOneThing: each flag that several commands have is in the table with all of them, and is either on or off
// in all, or has a value in all.
func TestFlagsMeanOneThing(t *testing.T) {
	root := (&invocation{Env: Env{Getenv: func(string) string { return "" }}}).root()
	one, others := flagRows(t)
	uses := map[string][]flagUse{}
	for _, use := range flagUses(root) {
		if !slices.Contains(others[use.flag], use.command) {
			uses[use.flag] = append(uses[use.flag], use)
		}
	}
	for flag, of := range uses {
		var commands []string
		for _, use := range of {
			commands = append(commands, use.command)
			if use.truth != of[0].truth {
				t.Errorf("--%s is on or off in one of %q and %q, and has a value in the other", flag, of[0].command, use.command)
			}
		}
		if len(of) < 2 && one[flag] == nil {
			continue
		}
		for _, command := range commands {
			if !slices.Contains(one[flag], command) {
				t.Errorf("docs/reference/flags.md has no --%s of %q: does it mean there what it means in %q?", flag, command, one[flag])
			}
		}
	}
	for _, table := range []map[string][]string{one, others} {
		for flag, commands := range table {
			for _, command := range commands {
				if cmd, _, err := root.Find(strings.Fields(command)); err != nil || cmd.Flags().Lookup(flag) == nil {
					t.Errorf("docs/reference/flags.md has --%s of %q, which has no such flag", flag, command)
				}
			}
		}
	}
}

package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// TestAgentsFile: the AGENTS.md of new projects is short, and its commands, flags and exit codes are there.
func TestAgentsFile(t *testing.T) {
	text, err := safefs.ReadFile("../scaffold/templates/init/AGENTS.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 60 {
		t.Errorf("%d lines, want at most 60", lines)
	}
	root := (&invocation{Env: Env{Getenv: func(string) string { return "" }}}).root()
	for _, call := range regexp.MustCompile("`slipway ([a-z][^`]*)`").FindAllStringSubmatch(string(text), -1) {
		cmd, args, err := root.Find(strings.Fields(call[1]))
		if err != nil || cmd == root {
			t.Errorf("%s: %v", call[0], err)
			continue
		}
		for _, arg := range args {
			if name, is := strings.CutPrefix(arg, "--"); is && cmd.Flags().Lookup(name) == nil {
				t.Errorf("%s: there is no flag %s", call[0], arg)
			}
		}
	}
	for _, class := range report.Classes() {
		if row := fmt.Sprintf("| %d | %s |", class.Code, class.Meaning); !strings.Contains(string(text), row) {
			t.Errorf("no row %s", row)
		}
	}
}

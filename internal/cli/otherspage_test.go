package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/prose"
)

// A recorded verb is one of testdata/others: a command in a project, and what became of it.
type recorded struct {
	line, exit string
	changed    int
	said       []string
}

// TestOthersPage compares the table of docs/reference/others.md with what TestEveryVerbInOthersProjects recorded.
func TestOthersPage(t *testing.T) {
	const path = "../../docs/reference/others.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	above, _, found := strings.Cut(string(page), tableBegins)
	if !found {
		t.Fatalf("%s has no line %q", path, tableBegins)
	}
	want, err := prose.Reflow(path, []byte(above+tableBegins+"\n"+othersTable(t)))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, page) {
		t.Errorf("%s is not what testdata/others has: go test ./internal/cli -run TestOthersPage -update", path)
	}
}

const tableBegins = "<!-- table -->"

// othersTable is a row for each project, a column for each verb, and below them why a verb did not do its work.
func othersTable(t *testing.T) string {
	t.Helper()
	var table, notes strings.Builder
	table.WriteString("\n| project | class | layout |")
	for _, verb := range verbsTried {
		fmt.Fprintf(&table, " `%s` |", verb.name)
	}
	table.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(verbsTried)) + "\n")
	count := 0
	for _, p := range othersProjects {
		class := "in full"
		if p.layout == "none" {
			class = "any other"
		}
		fmt.Fprintf(&table, "| %s | %s | %s |", strings.ReplaceAll(p.module, "@", " "), class, p.layout)
		for _, r := range readRecord(t, p) {
			cell := "yes"
			switch {
			case r.exit != "0":
				count++
				cell = fmt.Sprintf("no (%d)", count)
				fmt.Fprintf(&notes, "%d. `%s`\n", count, strings.Join(r.said, "; "))
			case r.changed > 0:
				cell = fmt.Sprintf("%d files", r.changed)
			}
			fmt.Fprintf(&table, " %s |", cell)
		}
		table.WriteString("\n")
	}
	return table.String() + "\n" + notes.String()
}

// readRecord is what was recorded of a project, in the order of verbsTried.
func readRecord(t *testing.T, p othersProject) []recorded {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "others", p.name()+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if command, begins := strings.CutPrefix(line, "$ slipway "); begins {
			all = append(all, recorded{line: command})
			continue
		}
		all[len(all)-1].add(line)
	}
	if len(all) != len(verbsTried) {
		t.Fatalf("%s has %d commands, want %d: make test-long-others OTHERS=-update", p.name(), len(all), len(verbsTried))
	}
	return all
}

// add takes a line of what became of the command.
func (r *recorded) add(line string) {
	code, exits := strings.CutPrefix(line, "exit ")
	switch {
	case exits && r.exit == "":
		r.exit = code
	case ofFinding.MatchString(line) && len(r.said) < 2:
		r.said = append(r.said, strings.Join(strings.Fields(line), " "))
	case line != "" && !ofFinding.MatchString(line):
		r.changed++
	}
}

package house_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the lists of messages and the pages of docs/reference anew")

// speaking are the modules whose messages users of Slipway read, with the file that lists them.
var speaking = map[string]string{
	".":        "testdata/messages-slipway.txt",
	"cluster":  "testdata/messages-cluster.txt",
	"operator": "testdata/messages-operator.txt",
}

// TestMessagesAreListed: the files of messages hold the text of every message, in the order of packages and files, so
// that they can be read from top to bottom as prose.
func TestMessagesAreListed(t *testing.T) {
	for dir, list := range speaking {
		got := listMessages(messages(t, dir))
		if *update {
			if err := os.WriteFile(list, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("messages of the module %s changed: %s\n"+
				"Read the new texts by the rules of docs/inside/contributing.md, then write the list anew:\n"+
				"  go test ./internal/house -run TestMessagesAreListed -update\n"+
				"After a merge with conflicts in the list, do the same.", dir, firstDifference(string(want), got))
		}
	}
}

// firstDifference shows the first line in which two lists differ.
func firstDifference(want, got string) string {
	old, now := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(old), len(now)) {
		if old[i] != now[i] {
			return "the first difference is\n- " + old[i] + "\n+ " + now[i]
		}
	}
	return "one list is longer"
}

// listMessages is the text of a list: a heading for each file, then its messages.
func listMessages(all []message) string {
	var b strings.Builder
	file := ""
	for _, m := range all {
		if m.file != file {
			file = m.file
			b.WriteString("\n# " + file + "\n")
		}
		b.WriteString(m.line() + "\n")
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// A message is a text that users read.
type message struct {
	file string // slash-separated, relative to the root
	role string // such as hint or error, or the name of a flag; empty for a text that a variable or a function passes on
	text string // with {expressions} for what the code puts in
}

// line is the message as a list shows it: on one line, or indented.
func (m message) line() string {
	role := m.role
	if role == "" {
		role = "text"
	}
	return role + ": " + strings.ReplaceAll(strings.TrimRight(m.text, "\n"), "\n", "\n    ")
}

// messages returns the messages in a module's Go files; those of the root leave out the other modules.
func messages(t *testing.T, dir string) []message {
	t.Helper()
	parsed := map[string]*ast.File{}
	var names []string
	for _, name := range files(t, ".go") {
		if !speaks(name, dir) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(f) {
			parsed[name] = f
			names = append(names, name)
		}
	}
	takes := parametersOfMessages(parsed, names)
	var all []message
	for _, name := range names {
		r := textReader{file: name, takes: takes}
		r.read(parsed[name])
		all = append(all, r.found...)
	}
	if len(all) < 100 {
		t.Fatalf("found only %d messages in %s", len(all), dir)
	}
	return all
}

// speaks reports whether a Go file belongs to a module and its texts reach users.
func speaks(name, dir string) bool {
	if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/_") || strings.Contains(name, "/test/") {
		return false
	}
	if strings.HasPrefix(name, "internal/inflection/") { // tables of words
		return false
	}
	if dir == "." {
		return strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "project/")
	}
	return strings.HasPrefix(name, dir+"/")
}

package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// speaking are the modules whose messages users of Slipway read.
var speaking = []string{".", "cluster", "operator"}

// A message is a text that users read.
type message struct {
	file string // slash-separated, relative to the root
	role string // such as hint or error, or the name of a flag; empty for a text that a variable or a function passes on
	text string // with {expressions} for what the code puts in
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

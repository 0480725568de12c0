package othertools_test

import (
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/othertools"
)

// TestDocumentsAreMapped: each command that tutorials for other tools have is found in the table, under its tool.
func TestDocumentsAreMapped(t *testing.T) {
	text, err := os.ReadFile("testdata/documented.txt")
	if err != nil {
		t.Fatal(err)
	}
	for typed := range strings.Lines(string(text)) {
		words := strings.Fields(typed)
		c, ok := othertools.Lookup(words)
		tool := words[0][strings.LastIndex(words[0], "/")+1:]
		if !ok || c.Tool != tool && !strings.HasPrefix(tool, "crd-") {
			t.Errorf("%s is taken for %q", strings.TrimSpace(typed), c.Tool+" "+c.Theirs)
		}
	}
}

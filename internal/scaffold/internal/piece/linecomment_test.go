package piece

import (
	"strings"
	"testing"
)

// TestImportLineComments: comments that say which lines of another file the code is from do not move imports.
func TestImportLineComments(t *testing.T) {
	const src = "package a\n\nimport (\n\t\"fmt\"\n//line a.go:9999\n\t\"m.org/a\"\n)\n\nvar _ = fmt.Sprint\n"
	with, err := Import{Path: "m.org/b", Module: "m.org/x"}.Insert("a.go", []byte(src))
	if err != nil || !strings.Contains(string(with), "\"m.org/a\"\n\t\"m.org/b\"\n") {
		t.Fatalf("%s, %v", with, err)
	}
	without, at := Import{Path: "m.org/a"}.Remove([]byte(src))
	if at != 0 || strings.Contains(string(without), "m.org/a") {
		t.Errorf("%s, %d", without, at)
	}
}

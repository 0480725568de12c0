package load

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBlankBodies: what is declared stays as it is, and where it is, in all of what comes with Go.
func TestBlankBodies(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, pattern := range []string{"encoding/*/*.go", "go/*/*.go", "net/http/*.go", "reflect/*.go", "runtime/*.go", "strings/*.go", "syscall/*.go", "text/*/*.go", "time/*.go"} {
		found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	if len(all) < 500 {
		t.Fatalf("only %d files", len(all))
	}
	before, after := 0, 0
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := declared(t, path, data)
		before += len(bytes.TrimSpace(data))
		blankBodies(data)
		after += len(bytes.Join(bytes.Fields(data), []byte(" ")))
		if got := declared(t, path, data); got != want {
			t.Errorf("%s declares\n%s\nand not\n%s", path, got, want)
		}
	}
	if after > before/2 {
		t.Errorf("%d of %d bytes are left", after, before)
	}
}

// declared is a file without bodies, with positions; "" for what is no Go.
func declared(t *testing.T, path string, data []byte) string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			out.WriteString(fset.Position(fn.Body.Rbrace).String())
			fn.Body = nil
		}
		out.WriteString(fset.Position(d.Pos()).String() + " ")
		if err := printer.Fprint(&out, fset, d); err != nil {
			t.Fatal(err)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// FuzzBlankBodies: no text makes it fail, and none gets another length or other lines.
func FuzzBlankBodies(f *testing.F) {
	for _, seed := range []string{"", "func", "func f() { \"\n", "func f() struct{} {\n}", "func (", "/*", "`", "func f() {'\\", "func f() }", "func f() {{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		was := bytes.Clone(data)
		blankBodies(data)
		if len(was) != len(data) || bytes.Count(was, []byte("\n")) != bytes.Count(data, []byte("\n")) {
			t.Errorf("%q became %q", was, data)
		}
	})
}

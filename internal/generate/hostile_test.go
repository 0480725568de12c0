//go:build unix

package generate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
)

const apiHead = "// +kubebuilder:object:generate=true\n// +groupName=example.com\npackage v1\n\n" +
	"import metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n"

// kind declares a kind Widget with these fields.
func kind(fields string) string {
	return "// +kubebuilder:object:root=true\ntype Widget struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n" + fields + "\n}\n"
}

// end runs the generators on a project with the given API files. It fails the
// test when they need more memory than any real project does.
func end(t *testing.T, files map[string]string) (string, generate.Result, error) {
	t.Helper()
	dir := project(t)
	remove(t, dir, "api/v1/types.go")
	for name, content := range files {
		write(t, dir, name, content)
	}
	result, err := endIn(t, dir)
	return dir, result, err
}

func endIn(t *testing.T, dir string) (result generate.Result, err error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result, err = generate.Run(t.Context(), options(dir))
	runtime.ReadMemStats(&after)
	const most = 2 << 30
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("it took %d MiB of memory", got>>20)
	}
	return result, err
}

// messages are those of the fatal findings.
func messages(result generate.Result) string {
	var list []string
	for _, f := range result.Findings {
		if f.Fatal {
			list = append(list, fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message))
		}
	}
	return strings.Join(list, "\n")
}

// TestHostileTypes: whatever stands in a file of types, a run ends, and what it
// cannot make is told with its place.
func TestHostileTypes(t *testing.T) {
	deep := func(open, middle, closing string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(closing, n)
	}
	wide := func(levels int) string {
		var b strings.Builder
		b.WriteString(apiHead + kind("\tF T0 `json:\"f\"`"))
		for i := range levels {
			fmt.Fprintf(&b, "type T%d struct {\n\tA T%d `json:\"a\"`\n\tB T%d `json:\"b\"`\n}\n", i, i+1, i+1)
		}
		fmt.Fprintf(&b, "type T%d string\n", levels)
		return b.String()
	}
	for name, c := range map[string]struct {
		content string
		want    string // part of a finding; "" for none
	}{
		"unterminated string":    {apiHead + kind("\tF string `json:\"f\"") + "\n", "not terminated"},
		"unterminated comment":   {apiHead + kind("") + "/* no end", "comment not terminated"},
		"unterminated before":    {"/* no end\npackage v1\n" + kind(""), "comment not terminated"},
		"unterminated type":      {apiHead + "type Widget struct {", "expected"},
		"no package clause":      {"type Widget struct{}\n", "expected 'package'"},
		"empty":                  {"", "expected 'package'"},
		"NUL":                    {apiHead + "type A string\x00\n", "illegal character NUL"},
		"NUL in a comment":       {apiHead + "// a\x00b\ntype A string\n", "illegal character NUL"},
		"no UTF-8":               {apiHead + "type A\xff string\n", "illegal UTF-8"},
		"byte order mark":        {"\ufeff" + apiHead + kind("\tF string `json:\"f\"`"), ""},
		"byte order mark inside": {apiHead + "\ufefftype A string\n", "illegal byte order mark"},
		"carriage returns":       {strings.ReplaceAll(apiHead+kind("\t// Text.\n\tF string `json:\"f\"`"), "\n", "\r\n"), ""},
		"only carriage returns":  {strings.ReplaceAll(apiHead+kind(""), "\n", "\r"), "expected 'package'"},
		"itself":                 {apiHead + kind("\tF A `json:\"f\"`") + "type A A\n", "has no deep copy"},
		"two of each other":      {apiHead + kind("\tF A `json:\"f\"`") + "type A B\ntype B A\n", "has no deep copy"},
		"aliases of each other":  {apiHead + kind("\tF A `json:\"f\"`") + "type A = B\ntype B = A\n", "has no deep copy"},
		"embeds itself":          {apiHead + kind("\tWidget `json:\",inline\"`"), ""},
		"embed each other":       {apiHead + kind("\tA `json:\",inline\"`") + "type A struct { B `json:\",inline\"` }\ntype B struct { A `json:\",inline\"` }\n", ""},
		"contains itself":        {apiHead + kind("\tF []Widget `json:\"f\"`"), ""},
		"map of itself":          {apiHead + kind("\tF A `json:\"f\"`") + "type A map[string]A\n", "contains itself"},
		"array of its size":      {apiHead + kind("\tF [len(x)]string `json:\"f\"`") + "var x [len(x)]int\n", "an array has no deep copy"},
		"endless generics":       {apiHead + kind("\tF G[string] `json:\"f\"`") + "type G[T any] struct { F *G[[]T] `json:\"f\"` }\n", "has no schema"},
		"parentheses":            {apiHead + "var x = " + deep("(", "1", ")", 200000) + "\n" + kind(""), "exceeded max nesting depth"},
		"parentheses in a type":  {apiHead + kind("\tF "+deep("(", "string", ")", 50000)+" `json:\"f\"`"), "nested too deeply"},
		"slices":                 {apiHead + kind("\tF "+deep("[]", "string", "", 50000)+" `json:\"f\"`"), "nested too deeply"},
		"structs":                {apiHead + kind("\tF "+deep("struct{F ", "string", " `json:\"f\"`}", 20000)+" `json:\"f\"`"), "nested too deeply"},
		"pointers":               {apiHead + kind("\tF "+deep("*", "string", "", 50000)+" `json:\"f\"`"), "nested too deeply"},
		"twice as large":         {wide(60), "too large"},
		"long line":              {apiHead + "// " + strings.Repeat("x", 10<<20) + "\n" + kind("\tF string `json:\"f\"`"), ""},
		"markers":                {apiHead + kind(strings.Repeat("\t// +kubebuilder:validation:MaxLength=10\n", 100000)+"\tF string `json:\"f\"`"), ""},
		"rules":                  {apiHead + strings.Repeat("// +kubebuilder:rbac:groups=a,resources=b,verbs=get\n", 100000) + "\n" + kind(""), ""},
		"broken markers":         {apiHead + kind(strings.Repeat("\t// +kubebuilder:validation:MaxLength={{\n", 100000)+"\tF string `json:\"f\"`"), "MaxLength"},
		"braces in a marker":     {apiHead + kind("\t// +kubebuilder:default="+deep("{", "", "", 100000)+"\n\tF string `json:\"f\"`"), "default"},
		"brackets in a marker":   {apiHead + kind("\t// +kubebuilder:default="+deep("{", "1", "}", 100000)+"\n\tF string `json:\"f\"`"), "default"},
		"JSON in a marker":       {apiHead + kind("\t// +kubebuilder:validation:Schemaless\n\t// +kubebuilder:default:="+deep("[", "", "]", 100000)+"\n\tF string `json:\"f\"`"), ""},
		"a type twice":           {apiHead + kind("") + "type A string\ntype A int\n", "A redeclared"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, result, err := end(t, map[string]string{"api/v1/types.go": c.content})
			if err != nil {
				t.Fatal(err)
			}
			got := messages(result)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("findings:\n%.1000s\nwant %q", got, c.want)
			}
			if c.want != "" && !strings.HasPrefix(got, "api/v1/types.go:") {
				t.Errorf("findings without a place:\n%.1000s", got)
			}
			noLeftovers(t, dir, result)
		})
	}
}

// noLeftovers: a run that failed has written nothing, and none leaves a file
// that it began.
func noLeftovers(t *testing.T, dir string, result generate.Result) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		name := filepath.Base(path)
		if strings.HasPrefix(name, ".slipway-") || result.Failed() && !e.IsDir() && (strings.HasPrefix(name, "zz_generated") || strings.HasSuffix(name, ".yaml")) {
			t.Errorf("%s was left behind", path)
		}
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLargeFile: five megabytes of types are a matter of seconds.
func TestLargeFile(t *testing.T) {
	var b strings.Builder
	b.WriteString(apiHead + kind("\tF T0 `json:\"f\"`"))
	for i := 0; b.Len() < 5<<20; i++ {
		fmt.Fprintf(&b, "// T%d is one of many types.\ntype T%d struct {\n\t// F is a text.\n\t// +optional\n\tF string `json:\"f,omitempty\"`\n}\n\n", i, i)
	}
	_, result, err := end(t, map[string]string{"api/v1/types.go": b.String()})
	if err != nil || result.Failed() || len(result.Files) != 3 {
		t.Errorf("%d files, %v, %.300s; want the methods, the CRD and the role", len(result.Files), err, messages(result))
	}
}

// TestHostileImports: packages that import each other, or what does not exist.
func TestHostileImports(t *testing.T) {
	for name, c := range map[string]struct {
		a, b, want string
	}{
		"each other": {
			"import \"example.com/project/b\"\n\n" + kind("\tF b.T `json:\"f\"`") + "type U string\n",
			"import v1 \"example.com/project/a\"\n\ntype T struct { F v1.U `json:\"f\"` }\n",
			"b/types.go:3:11: import cycle: example.com/project/a → example.com/project/b → example.com/project/a",
		},
		"itself":     {"import \"example.com/project/a\"\n\n" + kind("\tF v1.U `json:\"f\"`") + "type U string\n", "", "a/types.go:7:8: import cycle"},
		"no module":  {"import \"example.com/none\"\n\n" + kind("\tF none.T `json:\"f\"`"), "", "has no deep copy"},
		"no package": {"import \"example.com/project/c\"\n\n" + kind("\tF c.T `json:\"f\"`"), "", "has no deep copy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOFLAGS", "-mod=mod")
			t.Setenv("GOPROXY", "off")
			t.Setenv("GOSUMDB", "off") // or the go command asks it about what go.sum of the project does not have
			files := map[string]string{"a/types.go": apiHead + c.a}
			if c.b != "" {
				files["b/types.go"] = "package b\n\n" + c.b
			}
			_, result, err := end(t, files)
			got := messages(result)
			if err != nil {
				got += err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %.1000q, want %q", got, c.want)
			}
		})
	}
}

// TestSyntaxOfAllFiles: a mistake in a file that no generator needs is told, as a
// compiler would, and by all of them at once.
func TestSyntaxOfAllFiles(t *testing.T) {
	_, result, err := end(t, map[string]string{
		"api/v1/types.go":    apiHead + kind("\tF string `json:\"f\"`"),
		"main.go":            "package main\n\nfunc main() {\n\tx := \n}\n",
		"internal/a/a.go":    "package a\n\nvar x = \"no end\n",
		"internal/a/b.go":    "package a\n\nfunc f() {\n",
		"internal/a/test.go": "package a\n\nfunc f() {}\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, f := range result.Findings {
		places = append(places, f.File)
	}
	places = slices.Compact(places)
	if want := []string{"internal/a/a.go", "internal/a/b.go", "main.go"}; !slices.Equal(places, want) {
		t.Errorf("mistakes in %v, want %v", places, want)
	}
	if !slices.ContainsFunc(result.Findings, func(f report.Finding) bool { return f.File == "main.go" && f.Line == 5 }) {
		t.Errorf("no finding in main.go:5: %s", messages(result))
	}
}

// TestManyPackages: thousands of packages that hold nothing to generate.
func TestManyPackages(t *testing.T) {
	files := map[string]string{"api/v1/types.go": apiHead + kind("\tF string `json:\"f\"`")}
	for i := range 3000 {
		files[fmt.Sprintf("internal/p%d/q%d/x.go", i/100, i)] = fmt.Sprintf("package q%d\n\nfunc F() int { return %d }\n", i, i)
	}
	_, result, err := end(t, files)
	if err != nil || result.Failed() || len(result.Files) != 3 {
		t.Errorf("%d files, %v; want three", len(result.Files), err)
	}
}

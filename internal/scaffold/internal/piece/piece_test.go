package piece

import (
	"errors"
	"go/format"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

func TestInsert(t *testing.T) {
	line := Fragment{Marker: "scheme", Code: "Must(a.Add())\n", Key: "a.Add("}
	block := Fragment{Marker: "builder", Code: "if x {\n\treturn\n}\n", Key: "if x {"}
	imported := Fragment{Marker: "imports", Code: "b \"m/b\"\n", Key: `"m/b"`, Module: "m"}
	tests := []struct {
		name string
		f    Fragment
		src  string
		want string
	}{
		{"above the marker", line, "x\n\t// +kubebuilder:scaffold:scheme\ny\n", "x\n\tMust(a.Add())\n\t// +kubebuilder:scaffold:scheme\ny\n"},
		{"older spelling", line, "//+kubebuilder:scaffold:scheme", "Must(a.Add())\n//+kubebuilder:scaffold:scheme"},
		{"yaml", line, "  # +kubebuilder:scaffold:scheme\n", "  Must(a.Add())\n  # +kubebuilder:scaffold:scheme\n"},
		{"several lines", block, "\t\t// +kubebuilder:scaffold:builder\n", "\t\tif x {\n\t\t\treturn\n\t\t}\n\t\t// +kubebuilder:scaffold:builder\n"},
		{"there already", line, "Must( a.Add() )\n// +kubebuilder:scaffold:scheme\n", "Must( a.Add() )\n// +kubebuilder:scaffold:scheme\n"},
		{"there without marker", line, "Must(a.Add())\n", "Must(a.Add())\n"},
		{"only in a comment", line, "// Must(a.Add())\n// +kubebuilder:scaffold:scheme\n", "// Must(a.Add())\nMust(a.Add())\n// +kubebuilder:scaffold:scheme\n"},
		{"another name", line, "aa.Add()\n// +kubebuilder:scaffold:scheme\n", "aa.Add()\nMust(a.Add())\n// +kubebuilder:scaffold:scheme\n"},
		{"Windows", line, "x\r\n\t// +kubebuilder:scaffold:scheme\r\n", "x\r\n\tMust(a.Add())\r\n\t// +kubebuilder:scaffold:scheme\r\n"},
		{"first import", imported, "\t\"k\"\n\t// +kubebuilder:scaffold:imports\n", "\t\"k\"\n\n\tb \"m/b\"\n\t// +kubebuilder:scaffold:imports\n"},
		{"import in order", imported, "\t\"k\"\n\n\t\"m/a\"\n\tc \"m/c\"\n\t// +kubebuilder:scaffold:imports\n", "\t\"k\"\n\n\t\"m/a\"\n\tb \"m/b\"\n\tc \"m/c\"\n\t// +kubebuilder:scaffold:imports\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.f.Insert("file", []byte(test.src))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
}

func TestInsertRefuses(t *testing.T) {
	f := Fragment{Marker: "builder", Code: "start()\n", Key: "start("}
	for src, where := range map[string]string{
		"a\nb\nmgr.Start(ctx)\nc\n": "main.go:3",
		"a\nb\n":                    "main.go:2",
		"":                          "main.go:1",
		"x := `\n  // +kubebuilder:scaffold:other\n`":     "main.go:3",
		"code() // +kubebuilder:scaffold:builder\nmore()": "main.go:2",
	} {
		_, err := f.Insert("main.go", []byte(src))
		var refusal *report.Error
		if !errors.As(err, &refusal) || refusal.Where != where || !strings.Contains(refusal.Hint, "start()") {
			t.Errorf("%q: got %v", src, err)
		}
	}
}

func TestAddListItem(t *testing.T) {
	tests := []struct{ name, src, first, last string }{
		{"list", "a: b\nresources:\n- x\n- y\nc: d\n", "a: b\nresources:\n- new\n- x\n- y\nc: d\n", "a: b\nresources:\n- x\n- y\n- new\nc: d\n"},
		{"indented", "resources:\n  - x\n", "resources:\n  - new\n  - x\n", "resources:\n  - x\n  - new\n"},
		{"comments", "resources:\n# one\n- x\n# two\nc: d\n", "resources:\n- new\n# one\n- x\n# two\nc: d\n", "resources:\n# one\n- x\n- new\n# two\nc: d\n"},
		{"there", "resources:\n- \"new\"\n", "resources:\n- \"new\"\n", "resources:\n- \"new\"\n"},
		{"empty", "resources:\n", "resources:\n- new\n", "resources:\n- new\n"},
		{"no end of line", "resources:\n- x", "resources:\n- new\n- x", "resources:\n- x\n- new"},
	}
	for _, test := range tests {
		for first, want := range map[bool]string{true: test.first, false: test.last} {
			got, err := Item{"resources", "new", first}.Insert("k.yaml", []byte(test.src))
			if err != nil || string(got) != want {
				t.Errorf("%s: got %q, %v; want %q", test.name, got, err, want)
			}
		}
	}
	for _, src := range []string{"", "resources: [x]\n", "  resources:\n  - x\n", "a: b\n"} {
		var refusal *report.Error
		if _, err := (Item{"resources", "new", true}).Insert("k.yaml", []byte(src)); !errors.As(err, &refusal) {
			t.Errorf("%q: got %v", src, err)
		}
	}
}

// FuzzInsert checks of any file: what was there stays, line by line and in order; a
// second insertion changes nothing; formatted Go stays formatted.
func FuzzInsert(f *testing.F) {
	f.Add("package main\n\nimport (\n\t\"fmt\"\n\t// +kubebuilder:scaffold:imports\n)\n")
	f.Add("package p\n\nimport (\n\t\"m/a\"\n\n\tz \"m/z\"\n\t// +kubebuilder:scaffold:imports\n)\n\nfunc init() { z.A() }\r\n")
	f.Add("# +kubebuilder:scaffold:imports\n- x\n")
	f.Add("no marker")
	f.Fuzz(func(t *testing.T, src string) {
		edit := Fragment{Marker: "imports", Code: "b \"m/b\"\n", Key: `"m/b"`, Module: "m"}.Insert
		got, err := edit("main.go", []byte(src))
		if err != nil {
			var refusal *report.Error
			if !errors.As(err, &refusal) {
				t.Fatal(err)
			}
			return
		}
		rest := string(got)
		for line := range strings.Lines(src) {
			line = strings.TrimSpace(line)
			i := strings.Index(rest, line)
			if i < 0 {
				t.Fatalf("line %q is gone or moved:\n%s", line, got)
			}
			rest = rest[i+len(line):]
		}
		again, err := edit("main.go", got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("a second time: %v\n%s", err, again)
		}
		if formatted, err := format.Source([]byte(src)); err == nil && string(formatted) == src {
			if formatted, err := format.Source(got); err == nil && string(formatted) != string(got) {
				t.Fatalf("no longer formatted:\n%s", got)
			}
		}
	})
}

func FuzzAddListItem(f *testing.F) {
	f.Add("resources:\n- a\n# c\nother: x\n")
	f.Add("resources:\n  - a\n    b: c\n")
	f.Fuzz(func(t *testing.T, src string) {
		edit := Item{"resources", "../new", true}.Insert
		got, err := edit("k.yaml", []byte(src))
		if err != nil {
			return
		}
		again, err := edit("k.yaml", got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("a second time: %v\n%s", err, again)
		}
	})
}

package piece_test

import (
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
)

// A part is any piece, as a plan knows it.
type part interface {
	ID() string
	Insert(path string, src []byte) ([]byte, error)
	Remove(src []byte) (out []byte, changed int)
}

// TestInsertAndRemove: Insert adds a piece once, and Remove gives back the file as it was, to the last byte.
func TestInsertAndRemove(t *testing.T) {
	fragment := piece.Fragment{Marker: "builder", Code: "if err := a(); err != nil {\n\treturn err\n}\n", Key: "a("}
	for _, test := range []struct {
		name          string
		piece         part
		before, after string
	}{
		{"fragment", fragment, "\t// +kubebuilder:scaffold:builder\n", "\tif err := a(); err != nil {\n\t\treturn err\n\t}\n\t// +kubebuilder:scaffold:builder\n"},
		{"fragment of comments", piece.Fragment{Marker: "m", Code: "// +k:a=b\n// +k:c\n", Key: "a=b"}, "var x = \"a=b\"\n\n// +slipway:scaffold:m\n", "var x = \"a=b\"\n\n// +k:a=b\n// +k:c\n// +slipway:scaffold:m\n"},
		{"import at a marker", piece.ImportAt("m", "x", "m/a"), "\t\"k\"\n\t// +kubebuilder:scaffold:imports\n", "\t\"k\"\n\n\tx \"m/a\"\n\t// +kubebuilder:scaffold:imports\n"},
		{"import under its own name", piece.ImportAt("m", "a", "m/a"), "\t\"m/0\"\n\t// +kubebuilder:scaffold:imports\n", "\t\"m/0\"\n\t\"m/a\"\n\t// +kubebuilder:scaffold:imports\n"},
		{"import in a block", piece.Import{Path: "os"}, "package p\n\nimport (\n\t\"fmt\"\n)\n", "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n"},
		{"item", piece.Item{List: "resources", Name: "b.yaml"}, "resources:\n- a.yaml\nother:\n- c\n", "resources:\n- a.yaml\n- b.yaml\nother:\n- c\n"},
		{"item at an end without a line's", piece.Item{List: "resources", Name: "b.yaml"}, "resources:\n- a.yaml", "resources:\n- a.yaml\n- b.yaml"},
		{"item at its marker", piece.Listed{Marker: "m", Name: "b.yaml"}, "resources:\n- a.yaml\n# +kubebuilder:scaffold:m\n- c.yaml\n", "resources:\n- a.yaml\n- b.yaml\n# +kubebuilder:scaffold:m\n- c.yaml\n"},
		{"item of a list that is indented, its marker not", piece.Listed{Marker: "m", Name: "b.yaml"}, "resources:\n  - a.yaml\n# +kubebuilder:scaffold:m\n", "resources:\n  - a.yaml\n  - b.yaml\n# +kubebuilder:scaffold:m\n"},
		{"item of a list whose marker is indented", piece.Listed{Marker: "m", Name: "b.yaml"}, "resources:\n- a.yaml\n  # +kubebuilder:scaffold:m\n", "resources:\n- a.yaml\n- b.yaml\n  # +kubebuilder:scaffold:m\n"},
		{"first item of an indented marker", piece.Listed{Marker: "m", Name: "b.yaml"}, "resources:\n  # +kubebuilder:scaffold:m\n", "resources:\n  - b.yaml\n  # +kubebuilder:scaffold:m\n"},
		{"item whose marker is in another list", piece.Listed{Marker: "m", Name: "b.yaml"}, "resources:\n  - a.yaml\npatches:\n# +kubebuilder:scaffold:m\n", "resources:\n  - a.yaml\n  - b.yaml\npatches:\n# +kubebuilder:scaffold:m\n"},
		{"patch of an indented list", piece.Patch{Marker: "m", File: "b.yaml"}, "patches:\n  - path: a.yaml\n# +kubebuilder:scaffold:m\n", "patches:\n  - path: a.yaml\n  - path: b.yaml\n# +kubebuilder:scaffold:m\n"},
		{"item behind a text", piece.Entry{List: "patches", Text: "path: b"}, "patches:\n- patch: |\n    a: b\n    # c\nother: x\n", "patches:\n- patch: |\n    a: b\n    # c\n- path: b\nother: x\n"},
		{"item without its marker", piece.Listed{Marker: "m", Name: "b.yaml"}, "resources:\n- a.yaml\n\nother: x\n", "resources:\n- a.yaml\n- b.yaml\n\nother: x\n"},
		{"first item", piece.Item{List: "resources", Name: "b.yaml", First: true}, "resources: # all\n  - a.yaml\n", "resources: # all\n  - b.yaml\n  - a.yaml\n"},
		{"entry of a list", piece.Entry{List: "patches", Text: "path: b"}, "patches:\n- path: a\n", "patches:\n- path: a\n- path: b\n"},
		{"entry of no list", piece.Entry{List: "patches", Text: "path: b"}, "resources:\n- a\n", "resources:\n- a\npatches:\n- path: b\n"},
		{
			"item among others", piece.OrderedItem{Item: piece.Item{List: "l", Name: "b"}, Below: []piece.Item{{List: "l", Name: "c"}}},
			"l:\n- a\n- c\n", "l:\n- a\n- b\n- c\n",
		},
		{
			"item that begins its list", piece.OrderedItem{Item: piece.Item{List: "l", Name: "b"}},
			"resources:\n- a\n", "resources:\n- a\nl:\n- b\n",
		},
		{"file beside older folders", piece.Item{List: "resources", Name: "b.yaml"}, "bases:\n- a\n", "bases:\n- a\nresources:\n- b.yaml\n"},
		{"declaration", piece.Declaration{Name: "A", Code: "// A is one.\ntype A struct{}\n"}, "package p\n\nvar b int\n", "package p\n\nvar b int\n\n// A is one.\ntype A struct{}\n"},
		{"wrapped argument", piece.WrappedArgument{Method: "Complete", Argument: "r", Around: "m.Traced"}, "x.Complete(r)\n", "x.Complete(m.Traced(r))\n"},
		{
			"call in a chain", piece.BuilderCall{Function: "Setup", Method: "With", Argument: "1"},
			"package p\n\nfunc Setup() error {\n\treturn new().\n\t\tComplete()\n}\n", "package p\n\nfunc Setup() error {\n\treturn new().\n\t\tWith(1).\n\t\tComplete()\n}\n",
		},
		{
			"call in a chain on a line", piece.BuilderCall{Function: "Setup", Method: "With", Argument: "1"},
			"package p\n\nfunc Setup() error { return new().Complete() }\n", "package p\n\nfunc Setup() error { return new().With(1).Complete() }\n",
		},
		{"target of a Makefile", piece.MakefileTarget{Name: "x", Text: ".PHONY: x\nx:\n\ttrue\n"}, "y:\n\tfalse\n", "y:\n\tfalse\n\n.PHONY: x\nx:\n\ttrue\n"},
		{
			"generator in a Makefile", piece.MakefileGenerator{Name: "applyconfiguration"},
			"generate:\n\t$(CONTROLLER_GEN) object:headerFile=h paths=./...\n", "generate:\n\t$(CONTROLLER_GEN) object:headerFile=h applyconfiguration:headerFile=h paths=./...\n",
		},
		{"marker of a package", piece.PackageMarker("+k:ac=true"), "// Package p is one.\npackage p\n", "// Package p is one.\n// +k:ac=true\npackage p\n"},
		{"marker of a type", piece.TypeMarker{Kind: "A", Marker: "+genclient"}, "package p\n\n// A is one.\ntype A struct{}\n", "package p\n\n// A is one.\n// +genclient\ntype A struct{}\n"},
		{"marker of a package, Windows", piece.PackageMarker("+k:ac=true"), "// Package p is one.\r\npackage p\r\n", "// Package p is one.\r\n// +k:ac=true\r\npackage p\r\n"},
		{"marker of a type, Windows", piece.TypeMarker{Kind: "A", Marker: "+genclient"}, "package p\r\n\r\n// A is one.\r\ntype A struct{}\r\n", "package p\r\n\r\n// A is one.\r\n// +genclient\r\ntype A struct{}\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := test.piece.Insert("file", []byte(test.before))
			if err != nil || string(out) != test.after {
				t.Fatalf("put gives %q, %v, want %q", out, err, test.after)
			}
			if again, err := test.piece.Insert("file", out); err != nil || string(again) != test.after {
				t.Errorf("put again gives %q, %v", again, err)
			}
			if out, changed := test.piece.Remove(out); string(out) != test.before || changed != 0 {
				t.Errorf("take gives %q, and line %d was changed, want %q", out, changed, test.before)
			}
			if out, changed := test.piece.Remove([]byte(test.before)); string(out) != test.before || changed != 0 {
				t.Errorf("take where there is none gives %q, and line %d was changed", out, changed)
			}
			if test.piece.ID() == "" {
				t.Error("it has no ID")
			}
		})
	}
}

// TestTakeLast: a list goes with its last item, wherever it is, unless it has comments.
func TestTakeLast(t *testing.T) {
	last := piece.OrderedItem{Item: piece.Item{List: "l", Name: "a"}}
	for src, want := range map[string]string{
		"l:\n- a\nother:\n- b\n":                 "other:\n- b\n",
		"x: y\n\nl:\n- a\n\nother:\n- b\n":       "x: y\n\n\nother:\n- b\n",
		"l:\n- a\n- b\n":                         "l:\n- b\n",
		"l: # mine\n- a\n":                       "l: # mine\n",
		"l:\n- a\n# off\n":                       "l:\n# off\n",
		"l:\n  - a\n  # off\nother:\n- b\n":      "l:\n  # off\nother:\n- b\n",
		"l:\r\n- a\r\nother:\r\n- b\r\n":         "other:\r\n- b\r\n",
		"resources:\n- c\nl:\n- a":               "resources:\n- c\n",
		"l:\nother:\n- b # the list was empty\n": "l:\nother:\n- b # the list was empty\n",
	} {
		if out, changed := last.Remove([]byte(src)); string(out) != want || changed != 0 {
			t.Errorf("%q: take gives %q, %d, want %q", src, out, changed, want)
		}
	}
}

// TestTakeChanged: what its author has changed stays, and its line is told.
func TestTakeChanged(t *testing.T) {
	for _, test := range []struct {
		name  string
		piece part
		src   string
		line  int
	}{
		{"fragment", piece.Fragment{Marker: "builder", Code: "a()\n", Key: "a("}, "x\na() // mine\n", 2},
		{"item", piece.Item{List: "l", Name: "a"}, "l:\n- a # mine\n", 2},
		{"entry", piece.Entry{List: "l", Text: "a"}, "l:\n- b\n- a # mine\n", 3},
		{"declaration", piece.Declaration{Name: "A", Code: "type A struct{}\n"}, "package p\n\ntype A struct{ B int }\n", 3},
		{"function", piece.Declaration{Name: "A", Code: "func A() {}\n"}, "package p\n\nfunc A() int { return 1 }\n", 3},
		{"wrapped argument", piece.WrappedArgument{Method: "Complete", Argument: "r", Around: "m.Traced"}, "\n\nx.Complete(m.Traced(mine(r)))\n", 3},
		{"call in a chain", piece.BuilderCall{Function: "Setup", Method: "With", Argument: "1"}, "package p\n\nfunc Setup() error { return new().With(2).Complete() }\n", 3},
		{"target", piece.MakefileTarget{Name: "x", Text: "x:\n\ttrue\n"}, "all: x\nx:\n\tfalse\n", 2},
	} {
		if out, line := test.piece.Remove([]byte(test.src)); string(out) != test.src || line != test.line {
			t.Errorf("%s: take gives %q, and line %d was changed, want %d", test.name, out, line, test.line)
		}
	}
}

// TestImportInUse: an import stays while something is named through it.
func TestImportInUse(t *testing.T) {
	const src = "package p\n\nimport (\n\tx \"os\"\n)\n\nvar _ = x.Args\n"
	if out, changed := (piece.Import{Name: "x", Path: "os"}).Remove([]byte(src)); string(out) != src || changed != 0 {
		t.Errorf("take gives %q, %d", out, changed)
	}
}

// TestLoggedErrors: main files of other tools log with other words from version to version.
func TestLoggedErrors(t *testing.T) {
	f := piece.Fragment{Marker: "builder", Code: "if err := a(); err != nil {\n\tsetupLog.Error(err, \"unable to set a up\")\n}\n", Key: "a("}
	out, changed := f.Remove([]byte("\tif err := a(); err != nil {\n\t\tsetupLog.Error(err, \"unable to create a\", \"controller\", \"A\")\n\t}\n\tb()\n"))
	if string(out) != "\tb()\n" || changed != 0 {
		t.Errorf("take gives %q, %d", out, changed)
	}
}

func TestPutRefuses(t *testing.T) {
	for _, test := range []struct {
		name  string
		piece part
		src   string
		where string
	}{
		{"item of no list", piece.Item{List: "l", Name: "a"}, "other:\n- b\n", "file:2"},
		{"entry of a list on a line", piece.Entry{List: "l", Text: "a"}, "l: [b]\n", "file:1"},
		{"import without a block", piece.Import{Path: "os"}, "package p\n\nimport \"fmt\"\n", "file:2"},
		{"import into what is not Go", piece.Import{Path: "os"}, "package", "file:1"},
		{"call of no chain", piece.BuilderCall{Function: "Setup", Method: "With"}, "package p\n\nfunc Setup() {}\n", "file:4"},
		{"declaration in what is not Go", piece.Declaration{Name: "A"}, "package", "file:1"},
	} {
		_, err := test.piece.Insert("file", []byte(test.src))
		if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != test.where || refusal.Hint == "" {
			t.Errorf("%s: got %v, want a refusal of %s", test.name, err, test.where)
		}
	}
}

func TestPutOnce(t *testing.T) {
	f := piece.Fragment{Marker: "names", Code: " - a\n", Key: "a"}
	const src, want = "x:\n - b\n# +kubebuilder:scaffold:names\n", "x:\n - b\n - a\n# +kubebuilder:scaffold:names\n"
	out, err := f.PutOnce("file", []byte(src))
	if err != nil || string(out) != want {
		t.Fatalf("got %q, %v", out, err)
	}
	if again, err := f.PutOnce("file", out); err != nil || string(again) != want {
		t.Errorf("again: got %q, %v", again, err)
	}
	for src, where := range map[string]string{"#x:\n# - b\n# +kubebuilder:scaffold:names\n": "file:3", "x:\n": "file:1"} {
		_, err := f.PutOnce("file", []byte(src))
		if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != where {
			t.Errorf("%q: got %v, want a refusal of %s", src, err, where)
		}
	}
}

// TestSwitch: projects of other tools switch lines by their comment.
func TestSwitch(t *testing.T) {
	for _, test := range []struct {
		name, before, after string
	}{
		{"switched off", "resources:\n- ../a\n#- ../b\n", "resources:\n- ../a\n- ../b\n"},
		{"switched off with a space", "resources:\n- ../a\n# - ../b\n", "resources:\n- ../a\n- ../b\n"},
		{"switched off among older folders", "bases:\n- ../a\n  #- ../b\n", "bases:\n- ../a\n- ../b\n"},
		{"on", "resources:\n- ../b\n", "resources:\n- ../b\n"},
		{"not there", "resources:\n- ../a\n", "resources:\n- ../a\n- ../b\n"},
	} {
		out, err := (piece.Switch{Item: piece.Item{List: "resources", Name: "../b"}, Section: entry("resources", "../b")}).Insert("file", []byte(test.before))
		if err != nil || string(out) != test.after {
			t.Errorf("%s: got %q, %v, want %q", test.name, out, err, test.after)
		}
	}
}

func TestRenameItem(t *testing.T) {
	out, err := piece.RenameItem("a.yaml", "b.yaml")("file", []byte("resources:\n- a.yaml # mine\n- aa.yaml\n"))
	if want := "resources:\n- b.yaml # mine\n- aa.yaml\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

package marker_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

type rule struct {
	Groups   []string `marker:",optional"`
	Verbs    []string
	Priority int32          `marker:",optional"`
	Ratio    float64        `marker:",optional"`
	URL      *string        `marker:"url"`
	Labels   map[string]int `marker:",optional"`
}

type anything struct {
	Value any `marker:"."`
}

func registry(t testing.TB) *marker.Registry {
	t.Helper()
	r, err := marker.NewRegistry(
		marker.Define[rule]("test:rule", marker.Package, "gives a permission"),
		marker.Define[string]("test:name", marker.Package, "is a name").Optional(),
		marker.Define[struct{}]("test:root", marker.Type, "makes a kind"),
		marker.Define[anything]("kubebuilder:default", marker.Field, "is a default"),
		marker.Define[[]any]("kubebuilder:enum", marker.Field, "lists values"),
		marker.Define[int]("kubebuilder:validation:MaxLength", marker.Field, "is a length"),
		marker.Define[bool]("test:flag", marker.Field, "is a flag"),
		marker.Define[string]("test:flag:of", marker.Type, "names what a flag is of"),
		marker.Define[marker.Raw]("test:raw", marker.Field, "takes all"),
		marker.Define[struct{}]("optional", marker.Field, "makes it optional"),
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// parse reads one marker that begins in column 4 of a file's first line.
func parse(t testing.TB, target marker.Target, text string) (any, *report.Finding) {
	t.Helper()
	fset := token.NewFileSet()
	file := fset.AddFile("types.go", -1, len(text)+10)
	values, findings := registry(t).Parse(fset, []marker.Comment{{Text: text, Pos: file.Pos(3)}}, target)
	switch {
	case len(findings) == 1 && len(values) == 0:
		return nil, &findings[0]
	case len(values) == 1 && len(findings) == 0:
		return values[0].Data, nil
	}
	t.Fatalf("%s: %d values and %d findings", text, len(values), len(findings))
	return nil, nil
}

func TestValues(t *testing.T) {
	for _, test := range []struct {
		target marker.Target
		text   string
		want   any
	}{
		{marker.Package, "+test:rule:verbs=get", rule{Verbs: []string{"get"}}},
		{marker.Package, "+test:rule:groups=a;b,verbs={get, \"list\"},priority=-1", rule{Groups: []string{"a", "b"}, Verbs: []string{"get", "list"}, Priority: -1}},
		{marker.Package, "+test:rule:verbs=get,ratio=-1.5,url=`a,b`,labels={x: 1, y: 2}", rule{Verbs: []string{"get"}, Ratio: -1.5, URL: new("a,b"), Labels: map[string]int{"x": 1, "y": 2}}},
		{marker.Package, "+test:rule:groups=\"\",verbs=*", rule{Groups: []string{""}, Verbs: []string{"*"}}},
		{marker.Package, "+test:name=a/b:c d", "a/b:c d"},
		{marker.Package, "+test:name", ""},
		{marker.Type, "+test:root", struct{}{}},
		{marker.Field, "+test:flag=true", true},
		{marker.Field, "+test:raw=a,b;c", marker.Raw("a,b;c")},
		{marker.Field, "+kubebuilder:validation:MaxLength=-3", -3},
		{marker.Field, "+kubebuilder:default=1", anything{1}},
		{marker.Field, "+kubebuilder:default:=Allow", anything{"Allow"}},
		{marker.Field, "+kubebuilder:default=1.5", anything{1.5}},
		{marker.Field, "+kubebuilder:default=100Mi", anything{"100Mi"}},
		{marker.Field, "+kubebuilder:default=2024-01-15", anything{"2024-01-15"}},
		{marker.Field, "+kubebuilder:default=087", anything{"087"}},
		{marker.Field, "+kubebuilder:default=true", anything{true}},
		{marker.Field, "+kubebuilder:default=truly", anything{"truly"}},
		{marker.Field, "+kubebuilder:default={}", anything{map[string]any{}}},
		{marker.Field, "+kubebuilder:default={a: {b: 1}, c: {\"d\", e}}", anything{map[string]any{"a": map[string]any{"b": 1}, "c": []string{"d", "e"}}}},
		{marker.Field, "+kubebuilder:default={1,2}", anything{[]int{1, 2}}},
		{marker.Field, "+kubebuilder:default=a;b", anything{[]string{"a", "b"}}},
		{marker.Field, "+kubebuilder:enum=a;1;true", []any{"a", 1, true}},
	} {
		got, finding := parse(t, test.target, test.text)
		if finding != nil {
			t.Errorf("%s: %v %s", test.text, finding.Position, finding.Message)
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestBadValues(t *testing.T) {
	for _, test := range []struct {
		target     marker.Target
		text       string
		column     int
		message    string
		suggestion string
	}{
		{marker.Package, "+test:rule:groups=a", 23, "+test:rule: needs the argument verbs, list", ""},
		{marker.Package, "+test:rule:verb=get", 15, `+test:rule: has no argument "verb"`, "did you mean verbs?"},
		{marker.Package, "+test:rule:anything=get", 15, `+test:rule: has no argument "anything"`, "it has groups, verbs, priority, ratio, url, labels"},
		{marker.Package, "+test:rule:verbs=get,priority=high", 34, `+test:rule: expected an integer, found "high"`, ""},
		{marker.Package, "+test:rule:verbs={get", 25, "+test:rule: expected a comma or } at the end", ""},
		{marker.Field, "+test:flag=maybe", 15, `+test:flag: expected true or false, found "maybe"`, ""},
		{marker.Field, "+test:flag", 14, "+test:flag: needs a value after =, true or false", ""},
		{marker.Field, "+optional=true", 14, `+optional: unexpected text "true"`, ""},
		{marker.Field, "+kubebuilder:validation:MaxLength=08", 38, "+kubebuilder:validation:MaxLength: invalid digit '8' in octal literal", ""},
		{marker.Field, "+kubebuilder:validation:MaxLength=1 2", 40, `+kubebuilder:validation:MaxLength: unexpected text "2"`, ""},
		{marker.Field, "+kubebuilder:default=\"open", 25, "+kubebuilder:default: literal not terminated", ""},
	} {
		value, got := parse(t, test.target, test.text)
		if got == nil {
			t.Errorf("%s: accepted as %v", test.text, value)
			continue
		}
		want := report.Finding{
			Rule:     report.RuleInvalidMarker,
			Position: report.Position{File: "types.go", Line: 1, Column: test.column},
			Message:  test.message, Suggestion: test.suggestion, Fatal: true,
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestMisspelt(t *testing.T) {
	for text, want := range map[string]string{
		"+kubebuilder:validation:MaxLenght=3": "did you mean +kubebuilder:validation:MaxLength?",
		"+kubebuilder:validation:maxLength=3": "did you mean +kubebuilder:validation:MaxLength?",
		"+optionnal":                          "did you mean +optional?",
		"+test:rul:verbs=get":                 "did you mean +test:rule?",
		"+kubebuilder:quite:different":        "",
		"+test:flag:false":                    "did you mean +test:flag=false?",
		"+test:flag:x=false":                  "write +test:flag=false",
		"+test:flag:=false":                   "none",
		"+test:flag:of=a/b.Type":              "none", // a marker of types; +test:flag is one of fields
		"+kubebuilder:scaffold:imports":       "none",
		"+genclient":                          "none",
		"+optional":                           "none",
		"+test:rule:verbs=get":                "none",
		"+also:known=1":                       "none",
	} {
		fset := token.NewFileSet()
		file := fset.AddFile("types.go", -1, 100)
		findings := registry(t).AlsoKnown("also:known").Misspelt(fset, []marker.Comment{{Text: text, Pos: file.Pos(3)}})
		switch {
		case want == "none" && len(findings) == 0:
		case len(findings) == 1 && findings[0].Suggestion == want &&
			findings[0].Fatal == (want != "" && strings.HasPrefix(text, "+kubebuilder:")):
		default:
			t.Errorf("%s: %v, want %s", text, findings, want)
		}
	}
}

func TestBadDefinitions(t *testing.T) {
	for name, definitions := range map[string][]marker.Definition{
		"channel":  {marker.Define[chan int]("a", marker.Type, "")},
		"no name":  {marker.Define[int]("", marker.Type, "")},
		"bad name": {marker.Define[int]("a=b", marker.Type, "")},
		"twice":    {marker.Define[int]("a", marker.Type, ""), marker.Define[bool]("a", marker.Type, "")},
		"no type":  {{Name: "a"}},
		"map keys": {marker.Define[map[int]string]("a", marker.Type, "")},
	} {
		if _, err := marker.NewRegistry(definitions...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

const attached = `// Package doc.
// +test:name=doc
package p // +test:name=line

// +test:name=alone

import "fmt" // +test:name=import

// +test:name=above

// Doc of T.
// +test:root
type T struct { // +test:name=lost
	// +test:raw=1

	// +optional
	A string // +test:flag=true

	// +test:flag=false
	// text
	B, C int
	// +optional
	fmt.Stringer
	// +test:name=end
}

// +test:name=func-doc
func f() {
	// +test:name=inside
}

// +test:root

type (
	// +test:root
	U string
	V string
)

// +test:name=last
`

func TestAttach(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", attached, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	a := marker.Attach(file, registry(t))
	got := map[string][]string{"package": texts(a.Package)}
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			s := spec.(*ast.TypeSpec)
			got[s.Name.Name] = texts(a.Types[s])
			if st, ok := s.Type.(*ast.StructType); ok {
				for i, f := range st.Fields.List {
					got[fmt.Sprint(s.Name.Name, " ", i)] = texts(a.Fields[f])
				}
			}
		}
	}
	want := map[string][]string{
		"package": {"+test:name=doc", "+test:name=line", "+test:name=alone", "+test:root", "+test:name=last", "+test:name=above"},
		"T":       {"+test:root"},
		"T 0":     {"+test:raw=1", "+optional"},
		"T 1":     {"+test:flag=false"},
		"T 2":     {"+optional"},
		"U":       {"+test:root"},
		"V":       nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if p := fset.Position(a.Package[0].Pos); p.Line != 2 || p.Column != 4 {
		t.Errorf("+test:name=doc is at %v", p)
	}
}

func texts(comments []marker.Comment) []string {
	var list []string
	for _, c := range comments {
		list = append(list, c.Text)
	}
	return list
}

// FuzzParse checks that any text ends in a value or in findings that point into
// it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1", "{a:{b:1}}", "a;b;c", `"x"`, "{{1},{2}}", "`", "verbs=get,groups={a}", "-", "{", "'", "=", "{a:", "{a,b;c}"} {
		f.Add(seed)
	}
	r := registry(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"+test:rule:", "+kubebuilder:default=", "+kubebuilder:enum=", "+test:raw=", "+test:flag=", ""} {
			if name == "" && text == "" {
				continue
			}
			marked := "+" + name + text
			if name != "" {
				marked = name + text
			}
			fset := token.NewFileSet()
			file := fset.AddFile("types.go", -1, len(marked)+1)
			comments := []marker.Comment{{Text: marked, Pos: file.Pos(0)}}
			for target := marker.Package; target <= marker.Field; target++ {
				values, findings := r.Parse(fset, comments, target)
				if len(values)+len(findings) > 1 {
					t.Fatalf("%q: %v %v", marked, values, findings)
				}
				for _, finding := range findings {
					if finding.Column < 1 || finding.Line != 1 {
						t.Errorf("%q: finding at %v", marked, finding.Position)
					}
				}
			}
			r.Misspelt(fset, comments)
		}
	})
}

// FuzzAttach checks that each marker of a file belongs to one thing at most.
func FuzzAttach(f *testing.F) {
	f.Add(attached)
	f.Add("package p\n// +a\ntype (\n// +b\nT struct{}\n)\n")
	r := registry(f)
	f.Fuzz(func(t *testing.T, source string) {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return
		}
		seen := make(map[token.Pos]bool)
		for c := range marker.Attach(file, r).All() {
			if seen[c.Pos] {
				t.Errorf("%s belongs to two things", c.Text)
			}
			seen[c.Pos] = true
		}
	})
}

const displaced = `package p

// +test:flag=true
import "fmt"

// F does.
// +kubebuilder:validation:MaxLength=3
func F() {
	// +kubebuilder:validation:MaxLength=4
	// +optional is prose here
}

// +optional

// T is.
type T struct {
	// +test:root
	A string
}
`

func TestMisplaced(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", displaced, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	r := registry(t)
	var got []string
	for _, f := range r.Misplaced(fset, marker.Attach(file, r)) {
		got = append(got, fmt.Sprintf("%d: %s; %s", f.Line, f.Message, f.Suggestion))
	}
	slices.Sort(got)
	want := []string{
		"13: +optional has no effect on a type; put it directly above a field",
		"17: +test:root has no effect on a field; put it directly above a type",
		"7: +kubebuilder:validation:MaxLength has no effect here: generators do not read markers of functions and values; put it directly above a field",
		"9: +kubebuilder:validation:MaxLength has no effect here: generators do not read markers of functions and values; put it directly above a field",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

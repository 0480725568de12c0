package load

import (
	"testing"
)

func TestInteresting(t *testing.T) {
	for text, want := range map[string]bool{
		"package p\n": false,
		"package p\n\nfunc f() {\n\tx := 1 + 2 // x+2\n}\n": false,
		"package p\n\ntype T int\n":                         true,
		"package p\n\ntype (\n\tT int\n)\n":                 true,
		"package p; type T int\n":                           true,
		"package p // +marker\n":                            true,
		"package p // text\n":                               false,
		"package p\n\n// +marker\n":                         true,
		"package p\n\n\t//+marker\n":                        true,
		"// +marker\npackage p\n":                           true,
		"/* a */ // +marker\npackage p\n":                   true,
		"package p\n\nfunc (t T) MarshalJSON() {}\n":        true,
		"package p\n\nfunc (t *T) DeepCopy () *T {}\n":      true,
		"package p\n\nfunc (t *T) DeepCopyThing() *T {}\n":  false,
		"package p\n\nfunc (t *T) Marshal() {}\n":           false,
		"package p\n\nvar typeface = 1\n":                   false,
		"no clause":                                         true,

		"package p\n\nfunc (\n\tT,\n) MarshalJSON() {}\n":              true,
		"package p\n\nfunc\n(T) MarshalJSON() {}\n":                    true,
		"package p\n\nfunc (t *(T)) MarshalJSON() {}\n":                true,
		"package p\n\nfunc (t /* :) */ T) MarshalJSON() {}\n":          true,
		"package p\n\nfunc (t // :)\n T) MarshalJSON() {}\n":           true,
		"package p\n\nfunc /* c */ (T) MarshalJSON() {}\n":             true,
		"package p\n\nfunc (T) /* c */ MarshalJSON() {}\n":             true,
		"package p\n\n/* c */ func (T) MarshalJSON() {}\n":             true,
		"package p\n\n/* c */ type T int\n":                            true,
		"package p\n\n/* c\n d */ type T int\n":                        true,
		"package p\n\n/* c */ /* d */\ttype T int\n":                   true,
		"package p\n\nvar x int; type T int\n":                         true,
		"package p\n\nvar x int;type\nT int\n":                         true,
		"package p\n\nfunc f() {\n} // +marker\n":                      true,
		"package p\n\nfunc f() {} //+marker\n":                         true,
		"package p\n\n/* c\n */ // +marker\n":                          true,
		"package p\n\nfunc f(s fmt.Stringer) { s.MarshalJSON() }\n":    false,
		"package p\n\nfunc f() { for i := 0; i < 2; i++ {} }\n":        false,
		"package p\n\nfunc (t T) f(a /* type */ int) {}\n":             true,
		"package p\n\nfunc (t T) f(\n\ta int,\n) { MarshalJSON(t) }\n": false,
	} {
		h := readHeader([]byte(text))
		s := &source{}
		s.scan([]byte(text)[h.end:])
		if got := s.interesting || h.marker || h.name == ""; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestHeader(t *testing.T) {
	for text, want := range map[string]string{
		"package p": "p",
		"\ufeff// c\n\n/* package no */package\tname2;x": "name2",
		"package /* c */ p":                "p",
		"package // +marker\n\n/* d */p\n": "p",
		"package":                          "",
		"package /*":                       "",
		"/* open":                          "",
		"import":                           "",
		"":                                 "",
	} {
		if got := readHeader([]byte(text)); got.name != want || got.end > len(text) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestLooksLike(t *testing.T) {
	for path, name := range map[string]string{
		"k8s.io/api/core/v1":       "v1",
		"example.com/foo/v2":       "foo",
		"gopkg.in/yaml.v3":         "yaml",
		"github.com/x/go-logr":     "logr",
		"github.com/x/client-go":   "client",
		"example.com/foo/v1alpha1": "v1alpha1",
	} {
		if !looksLike(path, name) {
			t.Errorf("%s does not look like %s", path, name)
		}
	}
}

// FuzzHeader checks that any text is taken apart within its bounds.
func FuzzHeader(f *testing.F) {
	f.Add("// +a\npackage p // +b\ntype T int")
	f.Add("/* x")
	f.Fuzz(func(t *testing.T, text string) {
		h := readHeader([]byte(text))
		if h.end < 0 || h.end > len(text) {
			t.Fatalf("%q: end %d", text, h.end)
		}
		new(source).scan([]byte(text)[h.end:])
	})
}

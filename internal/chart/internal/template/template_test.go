package template

import (
	"bytes"
	"strings"
	"testing"
	gotemplate "text/template"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// marks are marks whose actions need no Helm.
var marks = Marks{{Text: "mark-of-prefix-", Action: `.Prefix`, Tail: "-"}, {Text: "mark-of-namespace", Action: ".Namespace"}}

// rendered renders a document as Helm does, which trims it.
func rendered(t *testing.T, document string, data map[string]any) string {
	t.Helper()
	functions := gotemplate.FuncMap{
		"quote": func(s string) string { return `"` + s + `"` },
		"nindent": func(n int, s string) string {
			return "\n" + strings.Repeat(" ", n) + strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n))
		},
		"toYaml": func(v any) (string, error) {
			data, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(data), "\n"), err
		},
	}
	parsed, err := gotemplate.New("").Funcs(functions).Parse(document)
	if err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, data); err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	return strings.TrimSpace(out.String())
}

// TestHostileText: text stays as it is, wherever it stands.
func TestHostileText(t *testing.T) {
	for _, text := range []string{
		"", " ", "\n", "\n\n", "a\n", "a\n\n", "\na", " a\nb", "a \nb", "a\tb", "\ta\nb", "yes", "1e3", "0x1", "null", "~", "2024-01-01", "12:30", "- a", "a: b", "#a", "a #b", "{a}", "[a]",
		"{{ .Values.a }}", "{{{", "{{{{", "{{", "}}", "{{- /*", "*/ -}}", "{{`", "a\n{{- end }}\nb\n", "---", "a\n---\nb", "%", "@", "`", "'", `"`, `\`, "é", "\u2028", "\u0085", "\ufeff", "\x00", "\x7f", "🦀",
		"|", ">", "!", "&a", "*a", "? a", "=", "<<", "mark-of-prefix", strings.Repeat("long ", 100),
	} {
		check(t, text)
	}
}

// check writes a text in several places of a document and reads it back.
func check(t *testing.T, text string) {
	t.Helper()
	want := map[string]any{
		"first": text,
		"list":  []any{text, map[string]any{"name": text, "other": []any{text}}},
		"map":   map[string]any{"inner": map[string]any{"key": text}, text + "k": "v"},
		"zlast": text,
	}
	object := tree.Literal(want).(*tree.Map)
	object.Fields[0].When = tree.If(".On")
	object.Fields[3].When = tree.If(".Off")
	document := Document(object, tree.If(".On"), nil)
	out := rendered(t, document, map[string]any{"On": true, "Off": false})
	delete(want, "zlast")
	compare(t, want, out, document)
	object.Fields[3].When = tree.Condition{}
	document = Document(object, tree.Condition{}, nil)
	want["zlast"] = text
	compare(t, want, rendered(t, document, map[string]any{"On": true}), document)
}

func compare(t *testing.T, want map[string]any, out, document string) {
	t.Helper()
	var got map[string]any
	if err := yaml.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s\nfrom\n%s", err, out, document)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\nfrom\n%s", diff, document)
	}
}

// TestMarks: marks become actions, in the midst of text that is none, and what they become stays text.
func TestMarks(t *testing.T) {
	for text, want := range map[string]string{
		"mark-of-prefix-manager":                       "42-manager",
		"mark-of-namespace":                            "7",
		"mark-of-prefix-service.mark-of-namespace.svc": "42-service.7.svc",
		"mark-of-namespace/1":                          "7/1",
		"{mark-of-namespace}":                          "{7}",
		"{{mark-of-namespace}}":                        "{{7}}",
		"{{ x }}{mark-of-prefix-{a":                    "{{ x }}{42-{a",
		"mark-of-prefix-":                              "42-",
		"first\nmark-of-prefix-a\n":                    "first\n42-a\n",
		"a: mark-of-namespace # b":                     "a: 7 # b",
	} {
		document := Document(tree.Literal(map[string]any{"key": text}).(*tree.Map), tree.Condition{}, marks)
		compare(t, map[string]any{"key": want}, rendered(t, document, map[string]any{"Prefix": "42", "Namespace": "7"}), document)
	}
}

// TestDefaultMarks: text behind what may be nothing, or other text that the kustomization has, stays text, on its line.
func TestDefaultMarks(t *testing.T) {
	for _, literal := range []string{"", "1"} {
		marks := Marks{{Text: "mark-of-prefix-", Action: ".Prefix", Default: literal}}
		for _, rest := range []string{"1e3", "e3", "0x1f", "true", "null", "~", "manager", "8:30", " a", "a: b", "- a", "# a", " a\nb\n", "a\nb\n", ""} {
			for _, prefix := range []string{literal, "other-"} {
				document := Document(tree.Literal(map[string]any{"key": "mark-of-prefix-" + rest, "mark-of-prefix-" + rest: "v"}).(*tree.Map), tree.Condition{}, marks)
				want := map[string]any{"key": prefix + rest, prefix + rest: "v"}
				compare(t, want, rendered(t, document, map[string]any{"Prefix": prefix}), document)
			}
		}
	}
}

// FuzzText: whatever a text is, it comes out of Helm as it was.
func FuzzText(f *testing.F) {
	f.Add("{{ a }}\n b\n")
	f.Add("x: [y\n\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ToValidUTF8(text, "") != text || len(text) > 300 {
			t.Skip() // no object has it, or not as a key
		}
		check(t, text)
	})
}

package yamlsize_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// TestCheck: what stays small is taken, and what grows or might be read in another way is not. Package bounded tests
// the growth of texts with several documents and of texts in texts.
func TestCheck(t *testing.T) {
	lists := "a: &a long text of a list\nb: &b [" + strings.Repeat("*a, ", 99) + "]\nc: &c [" + strings.Repeat("*b, ", 99) + "]\nd: [" + strings.Repeat("*c, ", 99) + "]\n"
	for name, text := range map[string]string{
		"lists":                 lists,
		"long text":             "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [*a, *a, *a, *a, *a]\n",
		"itself":                "a: &a [*a]\n",
		"what divides for some": "x: &x \"\n---y\"\n" + lists,
	} {
		if err := yamlsize.Check([]byte(text)); !errors.Is(err, yamlsize.ErrGrowth) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"labels": "a: &labels {app: x}\nb:\n  <<: *labels\nc: *labels\n", "signs": "a: b && c\nd: '*'\n",
		"text in text": "a: |\n  " + strings.ReplaceAll(lists, "\n", "\n  ") + "\n", "no aliases": "{{ no YAML", "none": "",
	} {
		if err := yamlsize.Check([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := yamlsize.Check([]byte("a: &a [*a")); err == nil || errors.Is(err, yamlsize.ErrGrowth) {
		t.Errorf("no YAML: %v", err)
	}
}

// TestDepth: what is nested too deep is refused with its line, in brackets and in blocks, in any document, in texts and
// by aliases. What is as deep as allowed is taken.
func TestDepth(t *testing.T) {
	flow := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	block := func(levels int) string {
		var b strings.Builder
		for i := range levels - 1 {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String() + strings.Repeat(" ", levels-1) + "a: b\n"
	}
	lists := func(levels int) string { return strings.Repeat("- ", levels) + "a\n" }
	for name, test := range map[string]struct {
		text func(levels int) string
		line int // of what is one level too deep
	}{
		"flow":     {flow, 1},
		"maps":     {func(n int) string { return "\n" + strings.Repeat("{a: ", n) + strings.Repeat("}", n) }, 2},
		"block":    {block, yamlsize.Deepest + 1},
		"lists":    {lists, 1},
		"NEL":      {func(n int) string { return strings.ReplaceAll(block(n), "\n", "\u0085") }, yamlsize.Deepest + 1},
		"document": {func(n int) string { return "a: b\n---\nc: d\n---\n" + flow(n) }, 5},
		"text":     {func(n int) string { return "b: c\na: |\n  " + flow(n) + "\n" }, 2},
		"hidden":   {func(n int) string { return "a: \"" + strings.Repeat(`\x5b`, n) + strings.Repeat("]", n) + "\"\n" }, 1},
		"alias": {func(n int) string {
			return "a: &a " + flow(n/2) + "\nb:\n" + "- " + strings.Repeat("[", n-n/2-2) + "*a" + strings.Repeat("]", n-n/2-2)
		}, 3},
		"closed in quotes": {func(n int) string { return strings.Repeat("[ ']', ", n) + strings.Repeat("]", n) }, 1},
		"comments":         {func(n int) string { return strings.Repeat("[ #a\n", n) + strings.Repeat("]", n) }, yamlsize.Deepest + 1},
		"anchors":          {func(n int) string { return strings.Repeat("[&a ", n-1) + "[]" + strings.Repeat("]", n-1) }, 1},
		"tags":             {func(n int) string { return strings.Repeat("[!!seq\t", n-1) + "[]" + strings.Repeat("]", n-1) }, 1},
		"keys":             {func(n int) string { return strings.Repeat(`{"a":`, n) + strings.Repeat("}", n) }, 1},
		"binary":           {func(n int) string { return "a: b\nc: !!binary " + base64.StdEncoding.EncodeToString([]byte(flow(n))) }, 2},
		"UTF-16":           {func(n int) string { return utf16LE(flow(n)) }, 1},
		"escaped":          {func(n int) string { return `a: "` + strings.Repeat(`[\n`, n) + strings.Repeat("]", n) + "\"" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := yamlsize.Growth([]byte(test.text(yamlsize.Deepest + 1)))
			if deep, is := errors.AsType[*yamlsize.DepthError](err); !is || deep.Line != test.line {
				t.Errorf("got %v, want line %d", err, test.line)
			}
			if _, err := yamlsize.Growth([]byte(test.text(yamlsize.Deepest))); err != nil {
				t.Error(err)
			}
		})
	}
	if _, is := errors.AsType[*yamlsize.DepthError](yamlsize.Check([]byte(flow(yamlsize.Deepest + 1)))); !is {
		t.Error("Check takes it")
	}
}

// utf16LE is a text of ASCII in UTF-16.
func utf16LE(text string) string {
	out := "\xff\xfe"
	for _, b := range []byte(text) {
		out += string([]byte{b, 0})
	}
	return out
}

// TestHidden: aliases are found however a text is written, and however the parsers divide it into documents.
func TestHidden(t *testing.T) {
	grows := "a: &a " + strings.Repeat("x", 10_000) + "\nb: [" + strings.Repeat("*a, ", 500) + "]\n"
	binary := base64.StdEncoding.EncodeToString([]byte(grows))
	for name, text := range map[string]string{
		"binary":          "p: !!binary " + binary,
		"binary by name":  "p: !<tag:yaml.org,2002:binary> " + binary,
		"binary renamed":  "%TAG !e! tag:yaml.org,2002:b\n---\np: !e!inary " + binary,
		"UTF-16":          utf16LE(grows),
		"second document": "c: d\n---\n" + utf16LE(grows),
		"after a comment": "c: d\r\n--- # comment\r\n" + grows,
		"no divider":      "c: \"d\n---e\"\n" + grows,
		"no divider yet":  "a: &a " + strings.Repeat("x", 10_000) + "\n---b: [" + strings.Repeat("*a, ", 500) + "]\nc: d\n",
		"joined lines":    "p: \"" + strings.NewReplacer("&", "&\\\n ", "*", "*\\\u2028", "\n", `\n`).Replace(grows) + "\"\n",
		"a shifted one":   utf16LE("c: ") + "\r\n" + utf16LE("\n" + grows)[2:],
	} {
		if n, err := yamlsize.Growth([]byte(text)); !errors.Is(err, yamlsize.ErrGrowth) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if _, is := errors.AsType[*yamlsize.DepthError](yamlsize.Nesting([]byte(utf16LE(strings.Repeat("[", 600) + strings.Repeat("]", 600))))); !is {
		t.Error("Nesting takes UTF-16")
	}
}

// TestWide: many items that are nested less deep than allowed grow by their indentation.
func TestWide(t *testing.T) {
	wide := func(levels, items int) []byte {
		return []byte(strings.Repeat("[", levels) + strings.Repeat("a,", items) + strings.Repeat("]", levels))
	}
	if _, err := yamlsize.Growth(wide(400, 20_000)); !errors.Is(err, yamlsize.ErrGrowth) {
		t.Errorf("400 levels: %v", err)
	}
	quoted := func(levels int, text string) []byte {
		return []byte(strings.Repeat("[", levels) + text + strings.Repeat("]", levels))
	}
	for name, text := range map[string][]byte{
		"escaped": quoted(400, "\"b"+strings.Repeat(`\nb`, 20_000)+"\""), "empty lines": quoted(400, "'b"+strings.Repeat("\n \nb", 20_000)+"'"),
		"other lines": quoted(400, "'b"+strings.Repeat("\u2028b", 20_000)+"'"), "old lines": quoted(400, "'b"+strings.Repeat("\r\rb", 20_000)+"'"),
		"alias": []byte("a: &a |\n" + strings.Repeat("  b\n", 100_000) + "b: " + string(quoted(400, "*a"))),
	} {
		if n, err := yamlsize.Growth(text); !errors.Is(err, yamlsize.ErrGrowth) {
			t.Errorf("400 levels, %s: %d, %v", name, n, err)
		}
	}
	for _, text := range [][]byte{wide(400, 100), wide(40, 100_000), quoted(400, "\"b"+strings.Repeat(`\nb`, 1000)+"\""), quoted(40, "\"b"+strings.Repeat(`\nb`, 100_000)+"\"")} {
		if _, err := yamlsize.Growth(text); err != nil {
			t.Errorf("%.50s: %v", text, err)
		}
	}
}

package tree

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
)

func TestCondition(t *testing.T) {
	a, b, c := If(".A"), If(".B"), If(".C")
	for _, x := range []struct {
		got  Condition
		want string
	}{
		{All(a), ".A"},
		{All(a, b, a), "and .A .B"},
		{All(a, Any(b, c)), "and .A (or .B .C)"},
		{Any(a, b, a), "or .A .B"},
		{Any(All(a, b), c), "or (and .A .B) .C"},
		{Any(a), ".A"},
		{a.Not(), "not .A"},
		{a.Not().Not(), ".A"},
		{All(a, b).Not(), "not (and .A .B)"},
		{All(a.Not(), b), "and (not .A) .B"},
		{All(a, b, c).Given(All(b)), "and .A .C"},
	} {
		if got := x.got.String(); got != x.want {
			t.Errorf("got %q, want %q", got, x.want)
		}
	}
	for _, always := range []Condition{{}, All(), Any(), Any(a, Condition{}), Any(a, a.Not()), a.Given(a)} {
		if !always.Always() {
			t.Errorf("%q should hold always", always)
		}
	}
}

// holds asks the template language whether a condition holds when switches are on.
func holds(c Condition, on map[string]bool) bool {
	if c.Always() {
		return true
	}
	var out strings.Builder
	parsed := template.Must(template.New("").Parse("{{ if " + c.String() + " }}yes{{ end }}"))
	if err := parsed.Execute(&out, on); err != nil {
		panic(err)
	}
	return out.String() == "yes"
}

// with is the value that a tree has when switches are on.
func with(n Node, on map[string]bool) any {
	switch n := n.(type) {
	case Scalar:
		return n.Value
	case *Map:
		value := map[string]any{}
		for _, f := range n.Fields {
			if holds(f.When, on) {
				value[f.Key] = with(f.Value, on)
			}
		}
		return value
	case *List:
		value := []any{}
		for _, i := range n.Items {
			if holds(i.When, on) {
				value = append(value, with(i.Value, on))
			}
		}
		return value
	}
	panic(fmt.Sprintf("no value: %T", n))
}

// merged is the tree of a value and variants, of which the i-th is without switch i.
func merged(t *testing.T, full any, variants []any) Node {
	t.Helper()
	var of []Variant
	for i, v := range variants {
		of = append(of, Variant{On: If(fmt.Sprint(".S", i)), Value: v})
	}
	alternatives := Merge(full, of)
	if len(alternatives) != 1 {
		t.Fatalf("%d alternatives of a map", len(alternatives))
	}
	return alternatives[0].Value
}

// check fails unless a tree is the full value with all switches on, and each variant without its one.
func check(t *testing.T, full any, variants []any) {
	t.Helper()
	tree := merged(t, full, variants)
	for off := -1; off < len(variants); off++ {
		on, want := map[string]bool{}, full
		for i := range variants {
			on[fmt.Sprint("S", i)] = i != off
		}
		if off >= 0 {
			want = variants[off]
		}
		if diff := cmp.Diff(want, with(tree, on)); diff != "" {
			t.Errorf("without %d: %s", off, diff)
		}
	}
}

func parse(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		full     string
		variants []string
	}{
		"nothing differs":     {`{"a":1,"b":[1,2]}`, []string{`{"a":1,"b":[1,2]}`}},
		"a field goes":        {`{"a":1,"b":2}`, []string{`{"a":1}`, `{"b":2}`}},
		"a field comes":       {`{"a":1}`, []string{`{"a":1,"b":2}`, `{"a":1,"b":2}`}},
		"a value differs":     {`{"a":1}`, []string{`{"a":2}`, `{"a":3}`}},
		"a kind differs":      {`{"a":{"x":1}}`, []string{`{"a":[1]}`, `{"a":null}`}},
		"items go":            {`{"a":["x","y","z"]}`, []string{`{"a":["x","z"]}`, `{"a":["x","y"]}`}},
		"items come":          {`{"a":["x","z"]}`, []string{`{"a":["w","x","y","z"]}`, `{"a":["x","z","zz"]}`}},
		"the same item twice": {`{"a":["x","y","x"]}`, []string{`{"a":["x","x"]}`, `{"a":["x","y"]}`}},
		"named items":         {`{"a":[{"name":"x","v":1},{"name":"y"}]}`, []string{`{"a":[{"name":"x","v":2},{"name":"y"}]}`, `{"a":[{"name":"y","w":1}]}`}},
		"items in one place":  {`{"a":[{"v":1,"w":1}]}`, []string{`{"a":[{"v":1}]}`, `{"a":[{"w":2}]}`}},
		"nothing is left":     {`{"a":{"b":[1]}}`, []string{`{"a":{"b":[]}}`, `{"a":{}}`, `{}`}},
	} {
		t.Run(name, func(t *testing.T) {
			var variants []any
			for _, v := range c.variants {
				variants = append(variants, parse(t, v))
			}
			check(t, parse(t, c.full), variants)
		})
	}
}

// TestMergeOfItemsInOnePlace: a list item that has changed is one item with conditions inside.
func TestMergeOfItemsInOnePlace(t *testing.T) {
	tree := merged(t, parse(t, `{"a":[{"v":1,"w":1}]}`), []any{parse(t, `{"a":[{"v":1}]}`)})
	if list := tree.(*Map).List("a"); len(list.Items) != 1 || !list.Items[0].When.Always() {
		t.Errorf("got %+v", list)
	}
}

// TestMergeAtRandom takes parts away at random and looks whether the tree knows.
func TestMergeAtRandom(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		full := randomMap(random, 3)
		var variants []any
		for range 1 + random.IntN(4) {
			variants = append(variants, reduced(random, full))
		}
		check(t, full, variants)
		if t.Failed() {
			t.Fatalf("seed %d: %v, %v", seed, full, variants)
		}
	}
}

// randomMap is a map without empty parts.
func randomMap(random *rand.Rand, depth int) map[string]any {
	value := map[string]any{}
	for i := range 1 + random.IntN(4) {
		key := string(rune('a' + i))
		switch kind := random.IntN(3); {
		case depth > 0 && kind == 0:
			value[key] = randomMap(random, depth-1)
		case depth > 0 && kind == 1:
			list := []any{}
			for j := range 1 + random.IntN(3) {
				item := randomMap(random, depth-1)
				item["name"] = fmt.Sprint(j)
				list = append(list, item)
			}
			value[key] = list
		default:
			value[key] = random.IntN(3)
		}
	}
	return value
}

// reduced is a copy of a map with parts taken away.
func reduced(random *rand.Rand, full map[string]any) map[string]any {
	value := map[string]any{}
	for key, v := range full {
		if random.IntN(4) == 0 && key != "name" {
			continue
		}
		switch v := v.(type) {
		case map[string]any:
			value[key] = reduced(random, v)
		case []any:
			list := []any{}
			for _, item := range v {
				if random.IntN(4) > 0 {
					list = append(list, reduced(random, item.(map[string]any)))
				}
			}
			value[key] = list
		default:
			value[key] = v
		}
	}
	return value
}

// TestNeeded: a part is needed when something in it is, and one that is empty from the beginning always.
func TestNeeded(t *testing.T) {
	inner := &Map{Fields: []Field{{Key: "a", When: If(".A"), Value: Scalar{1}}, {Key: "b", When: If(".B"), Value: Scalar{1}}}}
	outer := &Map{Fields: []Field{{Key: "inner", When: If(".C"), Value: inner}}}
	if got := Needed(outer).String(); got != "and .C (or .A .B)" {
		t.Errorf("got %q", got)
	}
	if !Needed(&List{}).Always() || !Needed(Scalar{}).Always() {
		t.Error("what is empty from the beginning is not needed")
	}
}

func TestMap(t *testing.T) {
	m := Literal(map[string]any{"a": "x", "c": map[string]any{"d": "y"}, "l": []any{map[string]any{"e": "z"}, 1}}).(*Map)
	m.Set(Field{Key: "b", Value: Scalar{2}})
	m.Set(Field{Key: "a", Value: Scalar{"w"}})
	m.Set(Field{Key: "z", Value: Scalar{3}})
	var keys []string
	for _, f := range m.Fields {
		keys = append(keys, f.Key)
	}
	if !slices.Equal(keys, []string{"a", "b", "c", "l", "z"}) {
		t.Errorf("keys are %v", keys)
	}
	if m.Text("a") != "w" || m.At("c").Text("d") != "y" || m.At("a", "b") != nil || m.Text("none") != "" || len(m.List("l").Maps()) != 1 || m.List("a") != nil {
		t.Error("it is not found")
	}
	m.Ensure("c").Ensure("new").Set(Field{Key: "f", Value: Scalar{"v"}})
	if m.At("c", "new").Text("f") != "v" || m.Ensure("a") == nil {
		t.Error("a map is not ensured")
	}
	value, ok := Plain(Literal(map[string]any{"a": []any{1, "x"}}))
	if diff := cmp.Diff(map[string]any{"a": []any{1, "x"}}, value); diff != "" || !ok {
		t.Error(diff)
	}
	if _, ok := Plain(&Map{Fields: []Field{{Key: "a", When: If(".A"), Value: Scalar{1}}}}); ok {
		t.Error("what is conditional is plain")
	}
}

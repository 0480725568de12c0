package yaml

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sigs "sigs.k8s.io/yaml"
)

// write is what this package makes of a JSON text.
func write(t testing.TB, text string) string {
	t.Helper()
	w := NewWriter()
	if err := w.JSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return string(w.Bytes())
}

var words80 = strings.Repeat("word and ", 30)

var documents = []string{
	`{}`, `[]`, `"x"`, `{"a":{}}`, `{"a":[]}`, `{"a":[{}]}`, `[[]]`, `[[[1,2],[3]],[{}]]`, `null`,
	`{"a":{"b":{"c":[1,2,{"d":"e","f":[{"g":1}]}]}}}`,
	`[{"a":1,"b":[1,2]},{"a":{"x":[]}}]`,
	`{"a10":1,"a9":2,"a":3,"B":4,"_":5,"1":6,"10":7,"9":8,"a01":9,"a1":10,"x-y":1,"x.y":2,"xy":3}`,
	`{"a":"true","b":"yes","c":"y","d":"null","e":"","f":"~","g":"1","h":"1.5","i":"0x1","j":"1_000","k":"12:30","l":"2020-01-01","m":".5","n":"-","o":"- a","p":"a: b","q":"a #b","r":"a#b","s":":a","t":"<<","u":"=","v":"+.inf","w":".Nan","x":"on","z":"0b1"}`,
	`{"a":"line\nline","b":"line\n","c":"\nline","d":"line\n\n","e":" lead\nx","f":"trail \nx","g":"x\ntrail ","h":"\n","i":"a\n  b","j":"tab\tx","k":"a\n\tb"}`,
	`{"a":"\u0001","b":"\u2028x","c":"é ü","d":"😀 and more","e":"x\u00a0y","f":"a\r\nb","g":"quote \" and ' here","h":"'x","i":"\"x","j":"back\\slash","k":"@x","l":"a, b","m":"[x]","n":"{x}","o":"*x","p":"%x"}`,
	`[1,-1,1.5,1e3,1e21,1e-7,100000000000000000000,18446744073709551615,9007199254740993,-0,0.1,true,false,null]`,
	`{"` + strings.Repeat("k", 129) + `":[1,2],"` + strings.Repeat("l", 128) + `":{"a":1},"multi\nline":1}`,
	`{"a":"` + words80 + `end","b":{"c":["` + words80 + `end"]}}`,
	`{"a":"'` + words80 + `end","b":"\t` + words80 + `end","c":"x: ` + words80 + ` two  spaces  end"}`,
	`{"a":"` + words80 + `  ` + words80 + `","b":"` + strings.Repeat("ü ", 100) + `x"}`,
	`{"a":"` + strings.Repeat("x", 100) + ` y","b":"` + strings.Repeat("x", 80) + `  y"}`,
}

func TestSameBytes(t *testing.T) {
	for _, text := range documents {
		want, err := sigs.JSONToYAML([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), write(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// FuzzText checks, for keys and values in several places, that the same bytes
// come out as from sigs.k8s.io/yaml and that they mean the same text.
func FuzzText(f *testing.F) {
	for _, text := range documents {
		f.Add(text, 1)
	}
	f.Fuzz(func(t *testing.T, text string, depth int) {
		text = strings.ToValidUTF8(text, "?")
		if len(text) > 1000 {
			return
		}
		var value any = map[string]any{text: text, "list": []any{text, []any{text}, map[string]any{"k" + text: text, "z": nil}}}
		for range min(max(depth, 0), 20) {
			value = map[string]any{"nested": value}
		}
		compare(t, value)
	})
}

func compare(t *testing.T, value any) {
	t.Helper()
	marshalled, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	want, err := sigs.JSONToYAML(marshalled)
	w := NewWriter()
	if err := w.JSON(marshalled); err != nil {
		t.Fatal(err)
	}
	got := string(w.Bytes())
	if err != nil {
		if w.Unreadable() == nil && len(marshalled) < longestKey {
			t.Errorf("%s is written, but the library says %v", marshalled, err)
		}
		return
	}
	if w.Unreadable() != nil {
		t.Errorf("%s is refused, but the library writes it", marshalled)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", marshalled, diff)
	}
	var back any
	if err := sigs.Unmarshal([]byte(got), &back); err != nil {
		t.Fatalf("not readable: %v\n%s", err, got)
	}
	if diff := cmp.Diff(value, back); diff != "" && !strings.ContainsRune(string(marshalled), nextLine) {
		t.Errorf("not the same value (-want +got):\n%s", diff)
	}
}

// longestKey is shorter than what the library's parser refuses as too long.
const longestKey = 900

func cannotPass(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// FuzzNumber checks that numbers are written as sigs.k8s.io/yaml does.
func FuzzNumber(f *testing.F) {
	for _, n := range []float64{0, 1, -1, 1.5, 1e20, 1e21, 1e-7, 123456789012, 1e300, 5e-324} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n float64) {
		marshalled, err := json.Marshal(n)
		if err != nil {
			return
		}
		want, err := sigs.JSONToYAML(marshalled)
		if err != nil {
			t.Fatal(err)
		}
		if got := write(t, string(marshalled)); got != string(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// FuzzKeys checks the order of keys: it is one that the library has, too, and
// always the same.
func FuzzKeys(f *testing.F) {
	f.Add("a1", "a10", "a2")
	f.Add("x00", "x01", "x1")
	f.Add("10", "1a", "a")
	f.Add("v1", "v1alpha1", "v1-beta")
	f.Add("009", "00A", "08")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		value := make(map[string]any)
		for _, key := range []string{a, b, c} {
			key = strings.ToValidUTF8(key, "?")
			if strings.ContainsFunc(key, cannotPass) || len(key) > 100 {
				return
			}
			value[key] = "v"
		}
		marshalled, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		got := write(t, string(marshalled))
		if again := write(t, string(marshalled)); again != got {
			t.Errorf("got:\n%s\nand then:\n%s", got, again)
		}
		compareVariants(t, marshalled, got)
	})
}

// compareVariants asks the library for its bytes until they are the wanted ones:
// where its order of keys goes in circles, chance decides.
func compareVariants(t *testing.T, marshalled []byte, got string) {
	t.Helper()
	var want []byte
	for range 100 {
		var err error
		if want, err = sigs.JSONToYAML(marshalled); err != nil {
			t.Fatal(err)
		}
		if got == string(want) {
			return
		}
	}
	t.Errorf("got:\n%s\nwant:\n%s", got, want)
}

// TestUnreadable: what the library refuses has its place, and what it reads as something else is that.
func TestUnreadable(t *testing.T) {
	for _, text := range []string{
		`{"a":"x\u0085y"}`, `{"a":"x \u0085 y"}`, `{"a":"\u0085"}`, `{"a":"\u0085x\u0085"}`, `{"a":"x\u0085 \u0085\u0085y"}`, `{"a":"x\u0085---y"}`,
		`{"a":"x\u0085--- y"}`, `{"a":"x\u0085...\u0085y"}`, `{"a":"x\u0085 --- y"}`, `{"a":"--- y"}`, `{"a":"x\u0085---"}`, `{"a":"x\u007fy"}`, `{"a":"\u0081"}`,
		`{"a":"\ufffe"}`, `{"a":"\uffff"}`, `{"a":"\ufeff"}`, `{"a":"😀\u0085x"}`, `{"x\u0085y":"a"}`, `{"x\u007fy":"a"}`, `{"😀":"a"}`, `{"a":"\u2028"}`,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		compare(t, value)
	}
	w := NewWriter()
	if err := w.JSON([]byte(`{"a":[{"b":"c"},{"b":["\u007f",1,"\u007f"]}],"\u007f":1}`)); err != nil {
		t.Fatal(err)
	}
	want := []Place{{"\u007f"}, {"a", "1", "b", "0"}, {"a", "1", "b", "2"}}
	if diff := cmp.Diff(want, w.Unreadable()); diff != "" {
		t.Errorf("the places differ (-want +got):\n%s", diff)
	}
}

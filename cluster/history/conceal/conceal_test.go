package conceal_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/history/conceal"
)

func TestValues(t *testing.T) {
	var v conceal.Values
	for _, value := range []string{"short", "password1", "password12", "line\n\"one\"", "12345678", "namespace"} {
		if !v.Add([]byte(value)) {
			t.Fatal(value)
		}
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("password1"))
	for text, want := range map[string]string{
		"":                          "",
		"short":                     "short",
		"is password1.":             "is *********.",
		"password12password1":       strings.Repeat("*", 19),
		"in " + encoded:             "in ************",
		"line\n\"one\"":             "**********",
		"passwor":                   "passwor",
		"\x1b[31mpassword1\x00\xff": "\x1b[31m*********\x00\xff",
	} {
		if got := v.Text(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for text, want := range map[string]string{
		`{"namespace":"a","n":12345678}`:         `{"namespace":"a","n":12345678}`,
		`{"a" : "namespace","b":["12345678"]}`:   `{"a" : "*********","b":["********"]}`,
		`{"a":"\"password1\"", "password1" : 1}`: `{"a":"\"*********\"", "password1" : 1}`,
		`"line\n\"one\""`:                        `"*************"`,
		`"password1`:                             `"****"`,
	} {
		if got := string(v.JSON([]byte(text))); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":"secretvalue\n","b":[1,"x"]}`), []byte("secretvalue"))
	f.Add([]byte(`{"a":"\\nnnnnnnnn"}`), []byte("\nnnnnnnnn"))
	f.Fuzz(func(t *testing.T, text, value []byte) {
		var v conceal.Values
		v.Add(value)
		hidden := v.JSON(text)
		if json.Valid(text) && !json.Valid(hidden) {
			t.Errorf("%q is no JSON", hidden)
		}
	})
}

func BenchmarkBytes(b *testing.B) {
	var v conceal.Values
	for i := range 1000 {
		v.Add([]byte(strings.Repeat(string(rune('a'+i%26)), 8+i/26)))
	}
	text := []byte(strings.Repeat("Reconciling the object ", 100))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		v.Bytes(text)
	}
}

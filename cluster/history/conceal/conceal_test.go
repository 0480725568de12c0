package conceal_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/history/conceal"
)

func TestValues(t *testing.T) {
	var v conceal.Values
	for _, value := range []string{"short", "password1", "password12", "line\n\"one\"", "12345678", "namespace", "\"quoted\" and-the-rest ", `abcdefgh\`} {
		if !v.Add([]byte(value)) {
			t.Fatal(value)
		}
	}
	for text, want := range map[string]string{
		"":                          "",
		"short":                     "short",
		"is password1.":             "is *****.",
		"password12password1":       "**********",
		"line\n\"one\"":             "*****",
		"passwor":                   "passwor",
		"and-the-rest":              "*****",
		"\x1b[31mpassword1\x00\xff": "\x1b[31m*****\x00\xff",
	} {
		if got := v.Text(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for text, want := range map[string]string{
		`{"namespace":"a","n":12345678}`:         `{"namespace":"a","n":12345678}`,
		`{"a" : "namespace","b":["12345678"]}`:   `{"a" : "*****","b":["*****"]}`,
		`{"a":"\"password1\"", "password1" : 1}`: `{"a":"\"*****\"", "password1" : 1}`,
		`"line\n\"one\""`:                        `"*****"`,
		`"abcdefgh\"rest"`:                       `"*****rest"`,
		`["\u00e9password1\\"]`:                  `["\u00e9*****\\"]`,
		`"password1`:                             `"*****`,
	} {
		if got := string(v.JSON([]byte(text))); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := string(v.Bytes([]byte("is password12!"))); got != "is **********!" {
		t.Error(got)
	}
}

// TestForms: a value is hidden however a text has it.
func TestForms(t *testing.T) {
	const value = `ab<cd"efgh`
	long := "first line of it\n" + strings.Repeat("0123456789abcdef", 20) + "\nthe last <line>"
	encode := func(text string) string {
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var v conceal.Values
	if !v.Add([]byte(value)) || !v.Add([]byte(long)) {
		t.Fatal("no room")
	}
	for _, secret := range []struct {
		value string
		parts []string
		whole bool // all forms are known, not pieces only
	}{{value, []string{value, "efgh", "<cd"}, true}, {long, []string{"0123456789", "first line", "last"}, false}} {
		for name, text := range map[string]string{
			"plain": secret.value, "JSON": encode(secret.value), "JSON in JSON": encode(encode(secret.value)), "Go": strconv.Quote(secret.value),
			"YAML":   "key: |\n    " + strings.ReplaceAll(secret.value, "\n", "\n    "),
			"zap":    strings.ReplaceAll(strings.ReplaceAll(secret.value, `"`, `\"`), "\n", `\n`),
			"query":  url.QueryEscape(secret.value),
			"base64": base64.StdEncoding.EncodeToString([]byte(secret.value)), "basic": base64.StdEncoding.EncodeToString([]byte("user:" + secret.value)),
			"basic, other place": base64.URLEncoding.EncodeToString([]byte("a:" + secret.value + "|")),
		} {
			for level, hidden := range []string{v.Text(text), string(v.JSON([]byte(encode(text))))} {
				if secret.whole && name == "JSON in JSON" && level > 0 || !secret.whole && name == "query" {
					continue
				}
				for _, part := range secret.parts {
					encoded := base64.StdEncoding.EncodeToString([]byte(part))
					if strings.Contains(hidden, part) || len(part) > 9 && strings.Contains(hidden, encoded[:len(part)*8/6-1]) {
						t.Errorf("%s: %s has %s", name, hidden, part)
					}
				}
				if !strings.Contains(hidden, conceal.Hidden) {
					t.Errorf("%s: %s", name, hidden)
				}
			}
		}
	}
}

// TestProtobuf: a value does not hide what stands before a text in protobuf.
func TestProtobuf(t *testing.T) {
	var v conceal.Values
	v.Add([]byte("\x12\x07default"))
	if got := string(v.Bytes([]byte("\x12\x07default"))); got != "\x12\x07default" {
		t.Errorf("%q", got)
	}
}

// TestWords: passwords and tokens within a value are hidden by themselves, and tokens that are in no value.
func TestWords(t *testing.T) {
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLW9mLWl0"
	var v conceal.Values
	for _, value := range []string{
		"users:\n- name: admin\n  user: {token: abcdefghijklmnopqrstuvwx}\n", "host=db-1 user=app password=s3cretword", "postgres://app:pw123456@database/x",
	} {
		if !v.Add([]byte(value)) {
			t.Fatal("no room")
		}
	}
	for text, want := range map[string]string{
		"Authorization: Bearer abcdefghijklmnopqrstuvwx": "Authorization: Bearer *****",
		"login with s3cretword failed":                   "login with ***** failed",
		"password pw123456 is wrong":                     "password ***** is wrong",
		"Bearer " + token + " expired":                   "Bearer ***** expired",
		"the database of app, password":                  "the database of app, password",
		"eyJ is no token":                                "eyJ is no token",
	} {
		if got := v.Text(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for i := range 40 {
		v.Add(fmt.Appendf(nil, "password: hunter-%02d and more", i))
	}
	if got := v.Text("is password: hunter-07 and more"); got != "is *****" {
		t.Error(got)
	}
}

// TestTurn: the newest values are hidden, however many there were.
func TestTurn(t *testing.T) {
	var v conceal.Values
	n := 0
	value := func(n int) []byte { return fmt.Appendf(nil, "%08x of many", uint32(n)*2654435761) }
	for ; v.Add(value(n)); n++ {
	}
	v.Turn()
	if !v.Add(value(n)) {
		t.Fatal("no room after a turn")
	}
	for _, known := range []int{n / 2, n} {
		if got := v.Text(string(value(known))); got != conceal.Hidden {
			t.Error(got)
		}
	}
	v.Turn()
	if got := v.Text(string(value(n / 2))); got == conceal.Hidden {
		t.Error("an old value is hidden still")
	}
	release := func(letter string) []byte { return []byte(strings.Repeat(letter+"bcdefgh", 100_000)) } // as helm keeps them
	if !v.Add(release("a")) || !v.Add(release("z")) || !v.Add([]byte("password")) || v.Text("password") != conceal.Hidden {
		t.Error("a password behind large values is not hidden")
	}
	if got := v.Text("is " + string(release("z")) + " end"); got != "is "+conceal.Hidden+" end" {
		t.Error(len(got))
	}
}

// TestAlike: many values that begin alike do not make it slow.
func TestAlike(t *testing.T) {
	var v conceal.Values
	for i := range 5000 {
		v.Add(fmt.Appendf(nil, "AAAAAAAA%05d", i))
	}
	began := time.Now()
	if got := v.Text(strings.Repeat("A", 64<<10) + " AAAAAAAA04999 end"); got != conceal.Hidden {
		t.Error(len(got))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Error(took)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add("secretvalue\n", "b", "")
	f.Add("\nnnnnnnnn", `\n`, `"`)
	f.Fuzz(func(t *testing.T, before, value, after string) {
		var v conceal.Values
		v.Add([]byte(value))
		text, err := json.Marshal(map[string]string{"a": before + " " + value + " " + after})
		if err != nil {
			t.Fatal(err)
		}
		hidden := v.JSON(text)
		var got map[string]string
		if err := json.Unmarshal(hidden, &got); err != nil {
			t.Fatalf("%q is no JSON: %v", hidden, err)
		}
		if plain := strings.ToValidUTF8(value, "\ufffd"); len(value) >= 8 && plain == value && strings.Count(before+after, value) == 0 && strings.Contains(got["a"], value) {
			t.Errorf("%q has %q", hidden, value)
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

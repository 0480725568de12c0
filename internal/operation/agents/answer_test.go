package agents

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const password = "correct horse"

// TestSecretsAreHidden: a value of a Secret is in no form in what an agent gets.
func TestSecretsAreHidden(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(password))
	var s secrets
	s.addManifest("kind: Secret\napiVersion: v1\nstringData: {a: " + password + ", short: 'true'}\n---\n" +
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, data: {key: " + base64.StdEncoding.EncodeToString([]byte("first line of a key\nsecond line of a key\n")) + "}}]\n")
	s.addManifest("apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\ndata: {namespace: ZGVmYXVsdA==, token: " + base64.StdEncoding.EncodeToString([]byte("eyJhbGciOi")) + "}\n")
	lines := []string{
		`{"event":"result","value":{"kind":"Secret","apiVersion":"v1","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"` + password + `"}},"data":{"other":"dW5rbm93biB2YWx1ZQ=="}}}`,
		`{"event":"result","value":{"kind":"Site","spec":{"text":"a ` + password + ` b"},"` + password + `":1}}`,
		"log: " + password + " " + encoded + " eyJhbGciOi true default",
		"log: second line of a key",
		"correct\x1b[31m horse",
		`{"event":"result","value":{"kind":"SecretList","items":[{"kind":"Secret","apiVersion":"v1","stringData":{"x":"never seen before"}}]}}`,
	}
	got := strings.Join(cleaner{s.hide}.lines(lines), "\n")
	for _, private := range []string{password, encoded, "dW5rbm93biB2YWx1ZQ==", "line of a key", "eyJhbGciOi", "never seen before", "last-applied", "\x1b"} {
		if strings.Contains(got, private) {
			t.Errorf("%q is in:\n%s", private, got)
		}
	}
	for _, public := range []string{`{"event":"output","text":"log: ` + hidden, "true default", `"x":"` + hidden + `, 17 characters"`} {
		if !strings.Contains(got, public) {
			t.Errorf("no %q in:\n%s", public, got)
		}
	}
}

// TestEvents: what programs print cannot become anything else than data.
func TestEvents(t *testing.T) {
	for line, kind := range map[string]string{
		`{"event":"note","text":"a"}`:       "note",
		`{"event":"note"} {"event":"note"}`: "output",
		`{"event":1}`:                       "output",
		`{"level":"info"}`:                  "output",
		`null`:                              "output",
		"":                                  "output",
	} {
		if got := parse(line).kind(); got != kind {
			t.Errorf("%s: %s, want %s", line, got, kind)
		}
	}
	list := `{"event":"result","value":{"kind":"PodList","items":[{"kind":"Pod","metadata":{"managedFields":[1],"generation":9007199254740993}},{"kind":"Pod"}]}}`
	want := `{"event":"result","value":{"kind":"Pod","metadata":{"generation":9007199254740993}}}` + "\n" + `{"event":"result","value":{"kind":"Pod"}}`
	if got := strings.Join((cleaner{(&secrets{}).hide}).lines([]string{list}), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestParts: all parts of an answer are whole characters, none is too long, and together they are the answer.
func TestParts(t *testing.T) {
	w := &workshop{}
	data := strings.Repeat("ä", maxPart) + "\n" + strings.Repeat("short line\n", maxPart/5) + "the end"
	r := w.result(answer{words: "Words.", data: []string{data}})
	var all strings.Builder
	for {
		words, framed := r.Content[0].(*mcp.TextContent).Text, r.Content[1].(*mcp.TextContent).Text
		_, framed, _ = strings.Cut(framed, "\n")
		piece := framed[:strings.LastIndex(framed, "\n</data ")]
		if len(piece) > maxPart || !utf8.ValidString(piece) {
			t.Fatalf("a part has %d bytes", len(piece))
		}
		all.WriteString(piece)
		_, cursor, more := strings.Cut(words, "cursor ")
		if !more {
			break
		}
		cursor, _, _ = strings.Cut(cursor, " ")
		var err error
		if r, err = w.next(cursor); err != nil {
			t.Fatal(err)
		}
	}
	if all.String() != data {
		t.Errorf("%d bytes became %d", len(data), all.Len())
	}
	for range keptParts {
		w.result(answer{data: []string{data}})
	}
	for _, cursor := range []string{"1:0", "2:1", "2:-1", "2:999999999", "", "x:y"} {
		if _, err := w.next(cursor); err == nil {
			t.Errorf("%q was answered", cursor)
		}
	}
}

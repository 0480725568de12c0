package newversion

import (
	"bytes"
	"testing"
)

// FuzzRenamedKeys: nothing but the key changes, whatever the text is.
func FuzzRenamedKeys(f *testing.F) {
	for _, text := range []string{"spec:\n  old: 1\n", "spec: {\"old\": 1, b: [{old: 2}]}\n", "a: &a {old: 1}\nspec: *a\n", "spec:\u2028  old: 1\n", "spec: {ä: 1, old: 2}\n", "{{ if }}\n", "spec:\r\n  old: 1\r\n"} {
		f.Add([]byte(text))
	}
	paths := []fieldPath{{[]string{"spec", "old"}, "new"}, {[]string{"spec", "b", anyKey, "old"}, "new"}}
	f.Fuzz(func(t *testing.T, text []byte) {
		after, _ := renamedKeys(bytes.Clone(text), paths)
		if len(after) != len(text) || !bytes.Equal(bytes.ReplaceAll(after, []byte("new"), []byte("old")), bytes.ReplaceAll(text, []byte("new"), []byte("old"))) {
			t.Errorf("%q became %q", text, after)
		}
	})
}

package plan

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestBaseBytesAreDeterministic(t *testing.T) {
	var first []byte
	for range 3 {
		base := &Base{files: map[string][]byte{}}
		for _, name := range []string{"b", "a/c", "a", "empty"} {
			base.Set(name, []byte(strings.Repeat(name, 100)))
		}
		base.Set("empty", nil)
		data, err := base.encode()
		must(t, err)
		if first == nil {
			first = data
		}
		if !bytes.Equal(first, data) {
			t.Fatal("the same files gave other bytes")
		}
	}
	files, err := decodeBase(first)
	must(t, err)
	if len(files) != 4 || string(files["b"]) != strings.Repeat("b", 100) {
		t.Errorf("read back %d files", len(files))
	}
}

func FuzzDecodeBase(f *testing.F) {
	base := &Base{files: map[string][]byte{"a": []byte("b")}}
	data, err := base.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := decodeBase(data)
		if err != nil {
			return
		}
		for name := range files {
			if !filepath.IsLocal(name) {
				t.Errorf("file %q lies outside", name)
			}
		}
	})
}

package wire

import (
	"slices"
	"testing"
)

// FuzzFilter: a text is refused, or is read as what would be written.
func FuzzFilter(f *testing.F) {
	text, err := Filter{{Code: 0x20}, {Code: 0x15, T: 1, F: 255, K: 0xc000003e}, {Code: 6, K: 1 << 31}}.MarshalText()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(text), "", "AAAA", "not base64", "AAAAAAAAAAA="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var read, again Filter
		if read.UnmarshalText([]byte(text)) != nil {
			return
		}
		written, err := read.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalText(written); err != nil || !slices.Equal(read, again) {
			t.Errorf("%q: %v became %v (%v)", text, read, again, err)
		}
	})
}

// TestFilterText: what is written is read as it was, and half an instruction is none.
func TestFilterText(t *testing.T) {
	filter := Filter{{Code: 0x20, K: 4}, {Code: 0x15, T: 1, F: 255, K: 0xc000003e}}
	text, err := filter.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var read Filter
	if err := read.UnmarshalText(text); err != nil || !slices.Equal(read, filter) {
		t.Errorf("%v became %v (%v)", filter, read, err)
	}
	if err := read.UnmarshalText([]byte("AAAA")); err == nil {
		t.Error("half an instruction was read")
	}
}

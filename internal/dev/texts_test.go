package dev

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTexts: a text is found wherever it is, also across two blocks, and in a file of any size.
func TestTexts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "manager")
	for _, size := range []int{0, 1, 20, textsBlock - 1, textsBlock, textsBlock + 30, 3*textsBlock + 7} {
		for _, text := range soughtTexts() {
			for _, at := range []int{0, textsBlock - 3, textsBlock + len(zapFlag), textsBlock + 20, size - len(text)} {
				if at < 0 || at+len(text) > size {
					continue
				}
				program := bytes.Repeat([]byte{'x'}, size)
				copy(program[at:], text)
				if err := os.WriteFile(file, program, 0o600); err != nil {
					t.Fatal(err)
				}
				found, err := readTexts(file, soughtTexts())
				if got := slices.Collect(maps.Keys(found)); err != nil || !slices.Equal(got, []string{text}) {
					t.Errorf("%q at %d of %d bytes: found %q, %v", text, at, size, got, err)
				}
			}
		}
	}
}

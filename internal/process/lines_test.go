package process_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/process"
)

// TestLines: lines come whole, however the output is cut, and what is longer than the bound comes in parts.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 150<<10)
	text := "one\r\n\ntwo\n" + long + "\nlast"
	for _, size := range []int{1, 7, len(text)} {
		var got []string
		lines := process.NewLines(func(line string) { got = append(got, line) })
		for part := range slices.Chunk([]byte(text), size) {
			if n, err := lines.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		lines.Flush()
		lines.Flush()
		if want := []string{"one", "", "two", long[:64<<10], long[:64<<10], long[:22<<10], "last"}; !slices.Equal(got, want) {
			t.Errorf("in parts of %d bytes: %d lines, %.40q", size, len(got), got)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb", 1)
	f.Add("\r\n\n", 2)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		var got []string
		lines := process.NewLines(func(line string) { got = append(got, line) })
		_, _ = lines.Write([]byte(text[:cut]))
		_, _ = lines.Write([]byte(text[cut:]))
		lines.Flush()
		var want []string
		for line := range strings.Lines(text) {
			want = append(want, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		}
		if len(text) < 64<<10 && !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

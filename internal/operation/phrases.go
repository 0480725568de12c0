package operation

import (
	"fmt"
	"strings"
)

// Count is a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// FirstLine is an error's text up to its first line break.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// FormatSize is a number of bytes as people read it.
func FormatSize(size int64) string { return fmt.Sprintf("%.1f MiB", float64(size)/(1<<20)) }

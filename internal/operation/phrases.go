package operation

import (
	"fmt"
	"strings"
)

// Count formats a number with its noun, which gets an s unless n is 1.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// FirstLine returns the first line of an error's text.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// FormatSize formats a number of bytes in MiB.
func FormatSize(size int64) string { return fmt.Sprintf("%.1f MiB", float64(size)/(1<<20)) }

package machine

import (
	"bufio"
	"io"
	"os"
)

// copyLines copies whole lines until from ends.
func copyLines(to io.Writer, from *os.File) {
	defer from.Close()
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 && to != nil {
			_, _ = to.Write(line)
		}
		if err != nil {
			return
		}
	}
}

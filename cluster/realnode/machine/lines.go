package machine

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// longestLine is as much as is read before it is passed on, whether the line has ended or not: a node may never end
// one.
const longestLine = 64 << 10

// copyLines copies whole lines until from ends, and longer ones in parts.
func copyLines(to io.Writer, from *os.File) {
	defer from.Close()
	lines := bufio.NewReaderSize(from, longestLine)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 && to != nil {
			_, _ = to.Write(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

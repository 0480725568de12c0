package machine

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// longestLine is the length at which a line is passed on in parts, in bytes: a node may never end one.
const longestLine = 64 << 10

// copyLines copies lines, each with one Write, until from ends. It splits long ones.
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

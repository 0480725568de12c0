package dev

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// texts are those of a manager's program by which it is known to have flags.
type texts map[string]bool

// soughtTexts are those that are looked for.
func soughtTexts() []string {
	return []string{probeFlag, ":" + probePort, webhookHostFlag, webhookPortFlag, zapFlag}
}

// textsBlock is how much of a program is read at a time: managers have a hundred megabytes.
const textsBlock = 1 << 20

// readTexts looks for texts in a program. It reads no more of it than it has to.
func readTexts(program string, sought []string) (texts, error) {
	file, err := os.Open(program)
	if err != nil {
		return nil, fmt.Errorf("find the manager's flags: %w", err)
	}
	defer file.Close()
	found := texts{}
	overlap := 0
	for _, text := range sought {
		overlap = max(overlap, len(text)-1)
	}
	block, kept := make([]byte, overlap+textsBlock), 0
	for len(found) < len(sought) {
		n, err := io.ReadFull(file, block[kept:])
		for _, text := range sought {
			if !found[text] && bytes.Contains(block[:kept+n], []byte(text)) {
				found[text] = true
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("find the manager's flags: %w", err)
		}
		kept = copy(block, block[kept+n-overlap:kept+n])
	}
	return found, nil
}

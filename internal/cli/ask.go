package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// ask asks a question on stderr until stdin answers yes or no. flag is the one that
// answers for scripts; the error names it when stdin ends.
func (inv *invocation) ask(ctx context.Context, question, flag string) (bool, error) {
	for {
		fmt.Fprint(inv.Stderr, question+" ")
		line, err := inv.readLine(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		if err != nil {
			fmt.Fprintln(inv.Stderr)
			return false, &report.Error{
				What: "there is nobody to answer: " + question, Where: flag,
				Hint: "say " + flag + " or " + flag + "=false",
			}
		}
	}
}

// readLine reads a line of stdin, or ends when ctx does. A read cannot be
// interrupted: after ctx ended, it ends with the process.
func (inv *invocation) readLine(ctx context.Context) (string, error) {
	type answer struct {
		line string
		err  error
	}
	if inv.lines == nil {
		inv.lines = bufio.NewReader(inv.Stdin)
	}
	got := make(chan answer, 1)
	go func() {
		line, err := inv.lines.ReadString('\n')
		got <- answer{line, err}
	}()
	select {
	case a := <-got:
		return a.line, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

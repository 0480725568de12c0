package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
)

// ask asks a question on stderr until stdin answers yes or no. flag is the one that
// answers for scripts; the error names it when stdin ends.
func (inv *invocation) ask(ctx context.Context, question, flag string) (bool, error) {
	for {
		inv.prompt(question + " ")
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
				What: "standard input ended before an answer to: " + question, Where: flag,
				Hint: "use " + flag + " or " + flag + "=false",
			}
		}
	}
}

// prompt shows a question. While an answer is awaited, no step goes on.
func (inv *invocation) prompt(text string) {
	ui.Pause(inv.handler)
	fmt.Fprint(inv.Stderr, text)
}

// readLine reads a line of stdin, or ends when ctx does. A read cannot be
// interrupted: after ctx ended, it ends with the process.
func (inv *invocation) readLine(ctx context.Context) (string, error) {
	if inv.lines == nil {
		inv.lines = bufio.NewReader(inv.Stdin)
	}
	return await(ctx, func() (string, error) { return inv.lines.ReadString('\n') })
}

// askSecret asks for what the terminal does not show. Without a terminal the answer is empty.
func (inv *invocation) askSecret(ctx context.Context, question string) (string, error) {
	if !inv.interactive() {
		return "", nil
	}
	terminal := int(inv.Stdin.(*os.File).Fd())
	before, err := term.GetState(terminal)
	if err != nil {
		return "", fmt.Errorf("ask without showing the answer: %w", err)
	}
	inv.prompt(question + ": ")
	defer fmt.Fprintln(inv.Stderr)
	secret, err := await(ctx, func() (string, error) {
		text, err := term.ReadPassword(terminal)
		return string(text), err
	})
	return secret, errors.Join(err, term.Restore(terminal, before)) // an interrupt leaves it as it was
}

// await reads, or ends when ctx does.
func await(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := read()
		got <- answer{text, err}
	}()
	select {
	case a := <-got:
		return a.text, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

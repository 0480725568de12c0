package ui

import (
	"io"
	"os"
	"runtime"

	"golang.org/x/term"

	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// screen is what a writer can show.
type screen struct {
	terminal bool // lines can be rewritten
	color    bool
	width    func() int // columns, asked anew for each line since windows are resized
}

// defaultWidth is assumed where a terminal does not tell.
const defaultWidth = 80

// detect looks at w and the environment.
func detect(w io.Writer, getenv func(string) string) screen {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || getenv("TERM") == "dumb" {
		return screen{}
	}
	return screen{
		terminal: true,
		color:    getenv("NO_COLOR") == "" && understandsColor(getenv),
		width: func() int {
			columns, _, err := term.GetSize(int(file.Fd()))
			if err != nil || columns <= 0 {
				return defaultWidth
			}
			return columns
		},
	}
}

// understandsColor is false on old Windows consoles, which print escape
// sequences as they are; those that do understand them say so.
func understandsColor(getenv func(string) string) bool {
	return runtime.GOOS != "windows" ||
		getenv("WT_SESSION") != "" || getenv("TERM") != "" || getenv("ANSICON") != ""
}

// paint colours text where s can show it.
func (s screen) paint(c ansi.Color, text string) string { return ansi.Paint(s.color, c, text) }

// roomy puts decoration before text where one line holds both.
func (s screen) roomy(decoration, text string) string {
	if len([]rune(decoration+text)) < s.width() {
		return decoration + text
	}
	return text
}

// clip cuts text to what fits on one line of s, for a line that is longer than
// the terminal is wide cannot be rewritten.
func (s screen) clip(text string) string {
	limit := s.width() - 1
	runes := []rune(text)
	if limit < 1 || len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}

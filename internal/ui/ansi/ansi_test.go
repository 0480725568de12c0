package ansi_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a name":               "a name",
		"two\r\nlines\tand":    "two\nlines\tand",
		"\x1b]0;title\a":       `\x1b]0;title\a`,
		"back\rover":           `back\rover`,
		"\u009b2J":             `\u009b2J`,
		"\x9b2J":               "\uFFFD2J",
		"abc\u202egnp.exe\x7f": `abc\u202egnp.exe\x7f`,
	} {
		if got := ansi.Plain(text); got != want {
			t.Errorf("Plain(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestPaint(t *testing.T) {
	if got := ansi.Paint(true, ansi.Red, "x"); got != "\x1b[1;31mx\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := ansi.Paint(false, ansi.Red, "x") + ansi.Paint(true, ansi.Red, ""); got != "x" {
		t.Errorf("%q: colours that are not wanted, or of nothing", got)
	}
}

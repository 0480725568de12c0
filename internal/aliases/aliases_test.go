package aliases_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/aliases"
)

// TestCheck: what stays small is taken, and what grows or might be read in another way is not. Package bounded tests
// the growth of texts with several documents and of texts in texts.
func TestCheck(t *testing.T) {
	lists := "a: &a long text of a list\nb: &b [" + strings.Repeat("*a, ", 99) + "]\nc: &c [" + strings.Repeat("*b, ", 99) + "]\nd: [" + strings.Repeat("*c, ", 99) + "]\n"
	for name, text := range map[string]string{
		"lists":                 lists,
		"long text":             "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [*a, *a, *a, *a, *a]\n",
		"itself":                "a: &a [*a]\n",
		"what divides for some": "x: &x \"\n---y\"\n" + lists,
	} {
		if err := aliases.Check([]byte(text)); !errors.Is(err, aliases.ErrGrowth) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"labels": "a: &labels {app: x}\nb:\n  <<: *labels\nc: *labels\n", "signs": "a: b && c\nd: '*'\n",
		"text in text": "a: |\n  " + strings.ReplaceAll(lists, "\n", "\n  ") + "\n", "no aliases": "{{ no YAML", "none": "",
	} {
		if err := aliases.Check([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := aliases.Check([]byte("a: &a [*a")); err == nil || errors.Is(err, aliases.ErrGrowth) {
		t.Errorf("no YAML: %v", err)
	}
}

package shellword

import (
	"os/exec"
	"testing"
)

// TestQuote has a shell print what it makes of each word.
func TestQuote(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	for text, want := range map[string]string{
		"":                   "''",
		"batch.example.com":  "batch.example.com",
		"k8s.io/api@v1=a,b":  "k8s.io/api@v1=a,b",
		"a b":                "'a b'",
		"it's":               `'it'\''s'`,
		"$(rm -rf /)":        "'$(rm -rf /)'",
		"a;b|c&d>e`f`\"g\\h": "'a;b|c&d>e`f`\"g\\h'",
		"x\ny":               "'x\ny'",
		"~root":              "'~root'",
		"*":                  "'*'",
		"-kind":              "'-kind'",
	} {
		got := Quote(text)
		if got != want {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
		printed, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s "+"x"+got).CombinedOutput()
		if err != nil || string(printed) != "x"+text {
			t.Errorf("%q: the shell makes %q of it, %v", text, printed, err)
		}
	}
}

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

// TestIsPlain: what make or cd would take for more than a name is not plain, nor is what a shell would.
func TestIsPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"generate": true, "api/v1.x": true, "test-e2e": true, "_all": true, "..": true,
		"": false, "-k": false, "/etc": false, "CC=evil": false, "a:b": false, "a b": false, "$(x)": false, "a;b": false, "x\n": false,
	} {
		if got := IsPlain(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

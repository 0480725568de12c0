package testlimit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvironment: the file of kubectl's defaults is there, and both it and envtest's variables have the limit.
func TestEnvironment(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "limits")
	vars, err := Environment(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		if name == "KUBERC" {
			text, err := os.ReadFile(value)
			if err != nil {
				t.Fatal(err)
			}
			value = string(text)
		}
		if !strings.Contains(value, Hang.String()) {
			t.Errorf("%s: no %s in %s", name, Hang, value)
		}
	}
	if again, err := Environment(dir); err != nil || len(again) != len(vars) {
		t.Errorf("for a second time: %v, %v", again, err)
	}
}

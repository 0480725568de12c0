package newproject

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestNameFromFolder(t *testing.T) {
	for folder, want := range map[string]string{
		"op": "op", "My Operator": "my-operator", "3d_Printer.2": "d-printer-2", "---": "",
		strings.Repeat("x", 80): strings.Repeat("x", maxName),
	} {
		if got := nameFromFolder(filepath.Join("base", folder)); got != want {
			t.Errorf("%q gives %q, want %q", folder, got, want)
		}
	}
}

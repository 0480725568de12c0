package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMemoryIsBounded: a few lines of a repository ask for any amount of memory, and the command ends before it has
// that.
func TestMemoryIsBounded(t *testing.T) {
	var copies strings.Builder // each is as large as all before it
	for i := range 40 {
		fmt.Fprintf(&copies, "    - {op: copy, from: /data, path: /data/a%d}\n", i)
	}
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  b: " + strings.Repeat("text", 1000) + "\n"
	repeats := "a:\n" + strings.Repeat("  b: c\n", 6000)
	for name, test := range map[string]struct {
		file, text string
	}{
		"keys":   {"a.yaml", object + repeats},
		"copies": {"kustomization.yaml", "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n" + copies.String()},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": object, "go.mod": "module example.com/a\n\ngo 1.26\n", test.file: test.text} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "slipway", "kustomize", "build", ".") // this test binary; see TestMain
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOMEMLIMIT=48MiB", "GOGC=", "HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			text := string(out[:min(len(out), 2000)])
			for _, want := range []string{"the command was stopped because it took more than 96 MiB of memory", "GOMEMLIMIT=96MiB"} {
				if err == nil || !strings.Contains(text, want) {
					t.Errorf("%v, want %q in:\n%s", err, want, text)
				}
			}
		})
	}
}

//go:build unix

package compile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/compile"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestEndless: of links to files that have no end, and of pipes that nobody writes to, nothing is read.
func TestEndless(t *testing.T) {
	for _, name := range []string{"Dockerfile", "go.mod", "cmd/main.go"} {
		for how, put := range map[string]func(string) error{
			"link": func(path string) error { return os.Symlink("/dev/zero", path) },
			"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"long": func(path string) error {
				return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40))
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				dir := module(t, "RUN go build -o /m ./cmd")
				if name == "cmd/main.go" { // the only one
					for _, other := range []string{"plain.go", "tagged.go"} {
						if err := os.Remove(filepath.Join(dir, "cmd", other)); err != nil {
							t.Fatal(err)
						}
					}
				}
				path := filepath.Join(dir, name)
				if err := errors.Join(os.Remove(path), put(path)); err != nil {
					t.Skip(err)
				}
				_, err := compile.Find(dir, compile.Source{})
				if e, ok := errors.AsType[*report.Error](err); !ok || e.Classified() != report.BadProject || e.Hint == "" {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

package devloop

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestOwnFiles: a generated file is no save, also if it is reported before the generators have ended; code that a
// person saves meanwhile is one at once.
func TestOwnFiles(t *testing.T) {
	p := &project{}
	dir := t.TempDir()
	generated, code := filepath.Join(dir, "role.yaml"), filepath.Join(dir, "main.go")
	for _, file := range []string{generated, code} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.generating.Lock()
	if p.isOwn(code) {
		t.Error("code is the loop's own")
	}
	asked, own := make(chan bool), make(chan bool)
	go func() {
		close(asked)
		own <- p.isOwn(generated)
	}()
	<-asked
	for range 100 {
		runtime.Gosched()
	}
	p.wrote(generated)
	p.generating.Unlock()
	if !<-own {
		t.Error("a generated file is taken for a save")
	}
}

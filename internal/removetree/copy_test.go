package removetree_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestBothModulesHaveTheSame: what is mended in one of the two modules is mended in the other.
func TestBothModulesHaveTheSame(t *testing.T) {
	for _, name := range []string{"all_unix.go", "all_other.go"} {
		here, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		there, err := os.ReadFile(filepath.Join("..", "..", "cluster", "realnode", "removetree", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(here, there) {
			t.Errorf("%s differs from that of the cluster's module", name)
		}
	}
}

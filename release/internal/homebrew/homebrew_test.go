package homebrew_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"os"
	"testing"

	names "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/release/internal/homebrew"
)

var update = flag.Bool("update", false, "write golden files")

// TestFormula compares the formula of a release with the one in testdata.
func TestFormula(t *testing.T) {
	sums := names.Sums{}
	for _, p := range names.Platforms() {
		name := names.Archive("v0.1.0", p[0], p[1])
		sums[name] = sha256.Sum256([]byte(name))
	}
	got, err := homebrew.Formula("v0.1.0", sums)
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/slipway.rb"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(got) != string(want) {
		t.Errorf("%v, got\n%s", err, got)
	}
	delete(sums, names.Archive("v0.1.0", "darwin", "arm64"))
	if _, err := homebrew.Formula("v0.1.0", sums); !errors.Is(err, homebrew.ErrIncomplete) {
		t.Errorf("without an archive: %v", err)
	}
}

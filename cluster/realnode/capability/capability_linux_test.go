package capability

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestAllCapabilities: the set of all is that of this kernel's interface, which the list of names has in full.
func TestAllCapabilities(t *testing.T) {
	if want := uint64(1)<<(unix.CAP_LAST_CAP+1) - 1; all != want || len(numbers) != unix.CAP_LAST_CAP+1 {
		t.Errorf("all are %x with %d names, want %x", uint64(all), len(numbers), want)
	}
}

package subid_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/subid"
)

func TestReserved(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"subuid": "# a remark\nalice:100000:65536\nbob:1:x\nbroken\nall:4294967295:4294967295\n", "subgid": "alice:300000:10\n",
		"passwd": "alice:x:1000:2000::/:/\n\nbroken:x\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "etc", file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	taken, err := subid.Reserved(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		subid.Range
		want bool
	}{
		{subid.Range{First: 1000, Count: 1}, true}, {subid.Range{First: 1001, Count: 98999}, false}, {subid.Range{First: 1001, Count: 99000}, true},
		{subid.Range{First: 165535, Count: 1}, true}, {subid.Range{First: 165536, Count: 1}, false}, {subid.Range{First: 300009, Count: 5}, true},
		{subid.Range{First: 1<<32 - 1, Count: 1}, true}, {subid.Range{First: 1<<32 - 2, Count: 1}, false},
	} {
		if got := tt.Overlaps(taken); got != tt.want {
			t.Errorf("%+v is taken: %t", tt.Range, got)
		}
	}
}

func TestRunning(t *testing.T) {
	running, err := subid.Running("/proc")
	if err != nil || !(subid.Range{First: os.Getuid(), Count: 1}).Overlaps(running) || !(subid.Range{First: os.Getgid(), Count: 1}).Overlaps(running) {
		t.Errorf("this process is not among %d (%v)", len(running), err)
	}
}

func TestFree(t *testing.T) {
	within := subid.Range{First: 1000, Count: 45}
	for _, tt := range []struct {
		number int
		taken  []subid.Range
		want   int
	}{
		{0, nil, 1000}, {3, nil, 1030}, {7, nil, 1030},
		{1, []subid.Range{{First: 1019, Count: 1}}, 1020},
		{2, []subid.Range{{First: 1005, Count: 1}, {First: 1025, Count: 100}}, 1010},
	} {
		if got, err := subid.Free(within, 10, tt.number, tt.taken); err != nil || got != (subid.Range{First: tt.want, Count: 10}) {
			t.Errorf("from number %d on without %v: %+v (%v), want %d", tt.number, tt.taken, got, err, tt.want)
		}
	}
	if got, err := subid.Free(within, 10, 0, []subid.Range{{First: 0, Count: 1 << 32}}); !errors.Is(err, subid.ErrTaken) {
		t.Errorf("where all are taken: %+v, %v", got, err)
	}
}

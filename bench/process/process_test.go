package main

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const line = "42 (a (b) c) S 7 42 42 0 -1 4194304 1 0 0 0 150 50 0 0 20 0 9 0 5 100 12 18446744073709551615 1 1 0"
	u, parent, err := parseStat(line)
	if err != nil || parent != 7 || u.cpu != 2*time.Second || u.resident != 12*int64(os.Getpagesize()) {
		t.Errorf("%+v of %d, %v", u, parent, err)
	}
	for _, bad := range []string{"", "42 (a) S 7"} {
		if _, _, err := parseStat(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestChildrenAreFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	u, err := children()
	if err != nil || u.resident == 0 {
		t.Errorf("%+v, %v", u, err)
	}
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

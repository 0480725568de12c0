package process

import (
	"bufio"
	"fmt"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const line = "42 (a (b) c) S 7 42 42 0 -1 4194304 1 0 0 0 150 50 0 0 20 0 9 0 5 100 12 18446744073709551615 1 1 0"
	s, err := parseStat(line)
	if err != nil || s.parent != 7 || s.cpu != 2*time.Second {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{"", "42 (a) S 7"} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestParseRollup(t *testing.T) {
	const head = "56183d0a4000-7ffd12d9e000 ---p 00000000 00:00 0      [rollup]\n"
	m, err := parseRollup(head + "Rss:                1548 kB\nPss:                 126 kB\nPss_Dirty:           104 kB\n")
	if err != nil || m != (memory{1548 << 10, 126 << 10}) {
		t.Errorf("%+v, %v", m, err)
	}
	for _, bad := range []string{"", head, head + "Rss: 1 kB\n", head + "Rss: 1 kB\nPss: many kB\n", head + "Rss: 1 kB\nPss_Dirty: 1 kB\n"} {
		if _, err := parseRollup(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestChildrenAreFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	before, err := Children()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Once it answers, it is no copy of this process any more.
	if _, err := fmt.Fprintln(stdin, "there?"); err != nil {
		t.Fatal(err)
	}
	if answer, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || answer != "there?\n" {
		t.Fatalf("%q, %v", answer, err)
	}
	after, err := Children()
	if err != nil {
		t.Fatal(err)
	}
	group := after.Without(before)
	if len(group) != 1 || group[0] != cmd.Process.Pid {
		t.Errorf("children %v, started %d", group, cmd.Process.Pid)
	}
	u, err := group.Usage()
	if err != nil || u.Resident == 0 || u.Proportional == 0 || u.Proportional > u.Resident {
		t.Errorf("%+v, %v", u, err)
	}
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := group.Usage(); err == nil {
		t.Error("a process that has ended uses something")
	}
}

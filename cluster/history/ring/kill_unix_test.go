//go:build unix

package ring_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/history/ring"
)

// killFolder makes TestKill, started again, a process that writes until it is killed.
const killFolder = "SLIPWAY_TEST_RING"

// TestKill kills a process in the middle of its writes. Each frame that it has reported as written is there.
func TestKill(t *testing.T) {
	if dir := os.Getenv(killFolder); dir != "" {
		writeUntilKilled(t, dir)
		return
	}
	rounds, dir := 20, t.TempDir()
	last := 0
	for round := range rounds {
		last = max(last, writeAndKill(t, dir, time.Duration(5+7*round)*time.Millisecond))
		r := open(t, dir)
		if int(r.Last()) < last {
			t.Fatal("frame", last, "was written, and the last one is", r.Last())
		}
		last = int(r.Last())
		check(t, r, last)
		r.Close()
	}
	t.Log(last, "frames in", rounds, "lives")
}

func writeAndKill(t *testing.T, dir string, after time.Duration) (last int) {
	cmd := exec.Command(os.Args[0], "-test.run=TestKill$")
	cmd.Env = append(os.Environ(), killFolder+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if last == 0 {
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			last = n
		}
	}
	_ = cmd.Wait() // it was killed
	if last == 0 {
		t.Fatal("nothing was written")
	}
	return last
}

func writeUntilKilled(t *testing.T, dir string) {
	r := open(t, dir)
	for seq := int(r.Last()) + 1; ; {
		var batch []ring.Frame
		for range 1 + seq%7 {
			batch = append(batch, frame(seq, seq%2000))
			seq++
		}
		if err := r.Append(batch); err != nil {
			t.Fatal(err)
		}
		fmt.Println(seq - 1)
	}
}

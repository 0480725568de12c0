package process_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/process"
)

// TestOf: a process counts with its children, and not with others.
func TestOf(t *testing.T) {
	cmd := exec.Command("sh", "-c", "exec 3<&0; cat <&3 & echo begun; wait") // what runs in the background has no stdin otherwise, and ends
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	for pid, atLeast := range map[int]uint64{os.Getpid(): 3, cmd.Process.Pid: 2} {
		of, err := process.Of(pid)
		if err != nil {
			t.Fatal(err)
		}
		u, err := process.Measure(of)
		if err != nil || u.Processes < atLeast || u.WorkingSet != u.RSS {
			t.Errorf("process %d: %+v, %v", pid, u, err)
		}
		if pid == os.Getpid() && u.RSS == 0 { // of a small process the kernel may not have counted any memory yet
			t.Errorf("this process has no memory: %+v", u)
		}
		all, err := process.Measure(process.All)
		if err != nil || all.Processes < u.Processes || all.CPU < u.CPU {
			t.Errorf("all: %+v, %v; process %d: %+v", all, err, pid, u)
		}
	}
	if _, err := process.Of(1 << 30); err == nil {
		t.Error("a process that does not exist was found")
	}
}

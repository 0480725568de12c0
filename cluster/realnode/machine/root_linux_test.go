package machine_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// seen is what a node has found.
type seen struct {
	Root, Etc, Dev []string
	Protected      bool // nobody can write to the program that containers begin with
	Devices, Trust string
	Mounts         int // how many mounts there are
}

// beNode is the test's own program in place of slipway-node.
func beNode() {
	if err := containerinit.EnterRoot(); err != nil {
		panic(err)
	}
	s := seen{Root: names("/"), Etc: names("/etc"), Dev: names("/dev")}
	var fs unix.Statfs_t
	s.Protected = unix.Fstatfs(wire.FileInside, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
	if err := os.WriteFile("/dev/null", []byte("text"), 0); err != nil {
		s.Devices = err.Error()
	}
	trust, _ := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	s.Trust = string(trust)
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	s.Mounts = bytes.Count(mounts, []byte("\n"))
	_ = json.NewEncoder(os.Stderr).Encode(s)
}

func names(dir string) (all []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestRootOfItsOwn: a node sees its own files, the devices that all have, and nothing else of the host; nobody can
// write to the program that its containers begin with (CVE-2019-5736).
func TestRootOfItsOwn(t *testing.T) {
	m := start(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, to := io.Pipe()
	node, err := m.StartNode(t.Context(), machine.NodeOptions{
		Name: "node", Program: program, Log: to, Talk: talk(t, ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	line, err := bufio.NewReader(from).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &s)
	}
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	<-node.Ended()
	if want := []string{"dev", "etc", "proc", "root", "sys", "tmp", "var", "volumes"}; !slices.Equal(s.Root, want) {
		t.Errorf("in the root: %q, want %q", s.Root, want)
	}
	if want := []string{"group", "hosts", "passwd", "ssl"}; !slices.Equal(s.Etc, want) {
		t.Errorf("in /etc: %q, want %q", s.Etc, want)
	}
	if want := []string{"full", "null", "random", "tty", "urandom", "zero"}; !slices.Equal(s.Dev, want) || s.Devices != "" {
		t.Errorf("in /dev: %q, want %q; and %s", s.Dev, want, s.Devices)
	}
	if !s.Protected {
		t.Error("slipway-container can be written to")
	}
	if want := 5 + len(s.Dev); s.Mounts != want {
		t.Errorf("%d mounts, want %d", s.Mounts, want)
	}
	if host, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt"); err == nil && s.Trust != string(host) {
		t.Errorf("certificates: %d bytes, and the host has %d", len(s.Trust), len(host))
	}
}

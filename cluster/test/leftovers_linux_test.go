package test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestLeftProcessesAreTheClusters: who is in a namespace that a cluster had is found, also when the process is gone
// that the namespace was found by; and others are not taken for the cluster's, though the kernel gives what they make
// the numbers of what is gone.
func TestLeftProcessesAreTheClusters(t *testing.T) {
	const nobodys = "/folder that nobody knows of"
	first, end := inNamespaces(t)
	had := ownedBy(map[int]string{first.Process.Pid: "sh"})
	defer had.forget()
	_, _ = first.Process.Kill(), first.Wait()
	if left := leftProcesses(nobodys, had.namespaces); len(left) != 1 {
		t.Errorf("one process is left, found: %v", left)
	}
	end()
	eventually(t, "the process that was left is gone", func(context.Context) (bool, error) {
		return len(leftProcesses(nobodys, had.namespaces)) == 0, nil
	})
	for range 5 {
		_, end := inNamespaces(t)
		defer end()
	}
	if left := leftProcesses(nobodys, had.namespaces); len(left) != 0 {
		t.Errorf("others are taken for what is left: %v", left)
	}
}

// inNamespaces starts two processes in namespaces of their own, a shell and its child, which does not end with it. Who
// calls end waits until both have.
func inNamespaces(t *testing.T) (shell *exec.Cmd, end func()) {
	t.Helper()
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	shell = exec.Command("sh", "-c", "cat <&3 & echo; wait")
	shell.ExtraFiles, shell.Stdout = []*os.File{in}, theirs
	shell.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
	}
	if err := shell.Start(); errors.Is(err, syscall.EPERM) {
		t.Skip("the system forbids namespaces:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReaderSize(out, 1).ReadByte(); err != nil {
		t.Fatal(err)
	}
	return shell, func() {
		_ = hold.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = out.Close()
		_ = shell.Wait() // for the second time, where it was waited for
	}
}

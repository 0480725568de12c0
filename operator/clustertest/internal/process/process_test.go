package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/process"
)

// TestCommand: a program on PATH that another user may change is not started, unless the user trusts its folder.
func TestCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing is looked at on Windows")
	}
	dir := filepath.Join(t.TempDir(), "bin")
	program := filepath.Join(dir, "program")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(program, []byte("#!/bin/sh\necho started\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	started := func() error {
		t.Helper()
		cmd, err := process.Command(t.Context(), "program")
		if err != nil {
			return err
		}
		if out, err := cmd.Output(); string(out) != "started\n" || err != nil {
			t.Errorf("it printed %q, %v", out, err)
		}
		return nil
	}
	if err := started(); err != nil {
		t.Errorf("the user's own: %v", err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	err := started()
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Where != dir || !errors.Is(err, process.ErrWritable) {
		t.Errorf("in a folder that all may write to: %v", err)
	}
	t.Setenv(process.TrustVariable, dir)
	if err := started(); err != nil {
		t.Errorf("in a folder that the user trusts: %v", err)
	}
	t.Setenv(process.TrustVariable, "")
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(program, 4321, -1)); err != nil {
		t.Fatal(err)
	}
	if err := started(); !errors.Is(err, process.ErrStranger) {
		t.Errorf("a stranger's: %v", err)
	}
}

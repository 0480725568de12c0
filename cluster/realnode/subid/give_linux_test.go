package subid

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGive: the programs that give ids say whether they did, and where one lacks the right to, what it needs is told.
func TestGive(t *testing.T) {
	yes, no := look(t, "true"), look(t, "false")
	ids := func(users, groups string) IDs {
		return IDs{users: Range{100000, Wanted}, groups: Range{200000, Wanted}, toUsers: users, toGroups: groups}
	}
	if err := ids(yes, yes).Give(t.Context(), os.Getpid()); err != nil {
		t.Error(err)
	}
	for _, i := range []IDs{ids(no, yes), ids(yes, no), ids(no, no), ids(filepath.Join(t.TempDir(), "absent"), yes)} {
		if err := i.Give(t.Context(), os.Getpid()); !errors.Is(err, ErrNone) {
			t.Errorf("by %s and %s: %v", i.toUsers, i.toGroups, err)
		}
	}
}

// TestGiveNamesTheIDs: root of the namespace is the user, and what follows is the range.
func TestGiveNamesTheIDs(t *testing.T) {
	echo := filepath.Join(t.TempDir(), "echo")
	if err := os.WriteFile(echo, []byte("#!/bin/sh\necho \"[$*]\"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := give(t.Context(), echo, 42, 1000, Range{100000, 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "[42 0 1000 1 1 100000 65535]") {
		t.Errorf("error %v", err)
	}
}

func TestPowerless(t *testing.T) {
	program := filepath.Join(t.TempDir(), "newuidmap")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := powerless(program); !strings.Contains(got, "sudo chmod u+s "+program) {
		t.Errorf("an ordinary program: %q", got)
	}
	if err := os.Chmod(program, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{program, program + "-absent"} {
		if got := powerless(p); got != "" {
			t.Errorf("%s: %q", p, got)
		}
	}
}

// TestFindIsWhatTheSystemHas: without the programs there are none, and that is not a failure of another kind.
func TestFindIsWhatTheSystemHas(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(); !errors.Is(err, ErrNone) || !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "newuidmap") {
		t.Errorf("without programs: %v", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"newuidmap", "newgidmap"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	ids, err := Find() // as this system's files have it
	if err != nil && !errors.Is(err, ErrNone) || err == nil && (ids.users.Count < Wanted || ids.groups.Count < Wanted) {
		t.Errorf("%+v, %v", ids, err)
	}
}

// TestSet: a file that has too few for this user says so, like one that does not exist.
func TestSet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "subuid")
	if _, err := set(file); !errors.Is(err, ErrNone) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(file, []byte("nobody-at-all:1:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := set(file); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), file+" has 0") {
		t.Errorf("none: %v", err)
	}
}

func look(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(err)
	}
	return path
}

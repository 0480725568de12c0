package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inDelegated has the cluster run as an ordinary user who was given cgroups, as systemd gives them to users.
func inDelegated(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can give cgroups to others")
	}
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	scopes := delegate(t)
	if len(scopes) == 0 {
		t.Skip("there are no cgroups to give")
	}
	return func(cmd *exec.Cmd) {
		// The shell joins them by files that root has opened, as only root can bring a process there.
		const join = `for fd in 3 4 5 6 7; do if [ -e /proc/self/fd/$fd ]; then echo 0 >&$fd; eval "exec $fd>&-"; fi; done; exec "$@"`
		cmd.Args = append([]string{"sh", "-c", join, "sh", forOthers(t, cmd.Path)}, cmd.Args[1:]...)
		cmd.Path = shell
		for _, scope := range scopes {
			f, err := os.OpenFile(filepath.Join(scope, "cgroup.procs"), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		}
		beOrdinary(cmd)
	}
}

// delegate makes cgroups that belong to the ordinary user, and returns those for the cluster's process.
func delegate(t *testing.T) (scopes []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	second := ""
	for line := range strings.Lines(string(text)) {
		before, after, _ := strings.Cut(line, " - ")
		at, how := strings.Fields(before)[4], strings.Fields(after)
		switch {
		case how[0] == "cgroup2":
			second = at
		case how[0] != "cgroup":
		default:
			for _, controller := range []string{"memory", "cpu", "cpuacct", "pids"} {
				if strings.Contains(","+strings.TrimSpace(how[2])+",", ","+controller+",") {
					scopes = append(scopes, give(t, filepath.Join(at, "delegated")))
					break
				}
			}
		}
	}
	if len(scopes) > 0 || second == "" {
		return scopes
	}
	const all = "+memory +cpu +pids"
	if err := os.WriteFile(filepath.Join(second, "cgroup.subtree_control"), []byte(all), 0); err != nil {
		t.Skip(err)
	}
	slice := give(t, filepath.Join(second, "delegated"))
	if err := os.WriteFile(filepath.Join(slice, "cgroup.subtree_control"), []byte(all), 0); err != nil {
		t.Fatal(err)
	}
	return []string{give(t, filepath.Join(slice, "scope"))}
}

// give makes a cgroup that belongs to the ordinary user.
func give(t *testing.T, path string) string {
	t.Helper()
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	})
	for _, file := range []string{"", "cgroup.procs", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(path, file), ordinary, ordinary); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return path
}

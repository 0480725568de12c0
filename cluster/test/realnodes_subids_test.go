package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// withFurtherIDs makes a process that of an ordinary user for whom the system has set ids aside, by files that it sees
// in place of the machine's.
func withFurtherIDs(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can give a user further ids")
	}
	for _, program := range []string{"newuidmap", "newgidmap", "setpriv"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Skip(err)
		}
		if info, err := os.Stat(path); program != "setpriv" && (err != nil || info.Mode()&os.ModeSetuid == 0) {
			t.Skipf("%s has no rights", path)
		}
	}
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"passwd": fmt.Sprintf("root:x:0:0::/root:/bin/sh\nsomebody:x:%d:%[1]d::/:/bin/sh\n", ordinary),
		"subuid": fmt.Sprintf("somebody:%d:65536\n", furtherUsers), "subgid": fmt.Sprintf("%d:%d:65536\n", ordinary, furtherGroups),
	} {
		if _, err := os.Stat("/etc/" + name); err != nil {
			t.Skip(err) // there is nothing to show another file in place of
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(cmd *exec.Cmd) {
		const script = `for f in passwd subuid subgid; do mount --bind "$0/$f" /etc/$f; done
exec setpriv --reuid "$1" --regid "$1" --clear-groups -- "$2" serve --stdio --config "$3"`
		config := cmd.Args[len(cmd.Args)-1]
		cmd.Args = []string{"sh", "-ec", script, dir, fmt.Sprint(ordinary), forOthers(t, cmd.Path), config}
		cmd.Path = shell
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
}

// The first of the ids that are set aside.
const (
	furtherUsers  = 500000
	furtherGroups = 600000
)

// TestRealFurtherIDs: where the system has set ids aside for an ordinary user, his nodes have as many as root's. Files
// belong to whom they should, on this machine to the ids that were set aside, and the next start removes them.
func TestRealFurtherIDs(t *testing.T) {
	t.Parallel()
	c := startReal(t, withFurtherIDs(t))
	as := func(user int64) *corev1.SecurityContext { return &corev1.SecurityContext{RunAsUser: &user} }
	data := []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	p := c.pod("owners", "serve")
	p.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(1234))}
	p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	p.Spec.InitContainers = []corev1.Container{{
		Name: "writer", Image: c.image, Args: []string{"write", "/data/file", "text"}, SecurityContext: as(1111), VolumeMounts: data,
	}}
	p.Spec.Containers[0].SecurityContext, p.Spec.Containers[0].VolumeMounts = as(4321), data
	c.create(p)
	c.await("owners", ready)
	if got := c.exec("owners", "pod", "owner", "/data/file", "/data", "/pod"); got != "1111:1234\n0:1234\n0:0\n" {
		t.Errorf("the owners are %q", got)
	}
	if status := c.exec("owners", "pod", "status"); !strings.Contains(status, "Uid:\t4321\t") || !strings.Contains(status, "1234") {
		t.Errorf("a container runs as %s", status)
	}
	c.belongs("lib/kubelet/pods/*/volumes/kubernetes.io~empty-dir/data/file", furtherUsers+1111-1, furtherGroups+1234-1)

	killProcess(t, c.cmd.Process.Pid)
	<-c.exited
	c.startAgain()
	c.create(c.pod("owners"))
	c.await("owners", ready)
	c.stop()
}

// belongs checks to whom a file of the node's belongs on this machine.
func (c *realCluster) belongs(pattern string, user, group uint32) {
	c.t.Helper()
	found, err := filepath.Glob(filepath.Join(c.config.Dir, "nodes", "node-1", pattern))
	if err != nil || len(found) != 1 {
		c.t.Fatalf("%s: %v (%v)", pattern, found, err)
	}
	var s syscall.Stat_t
	if err := syscall.Stat(found[0], &s); err != nil || s.Uid != user || s.Gid != group {
		c.t.Errorf("%s belongs to %d:%d, want %d:%d (%v)", found[0], s.Uid, s.Gid, user, group, err)
	}
}

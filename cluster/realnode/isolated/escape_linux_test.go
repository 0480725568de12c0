package isolated

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// volume is a folder of a node that a container of the test is shown.
func (b *bed) volume(target string) wire.Mount {
	b.tb.Helper()
	dir, err := os.MkdirTemp(b.dir, "volume-")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		b.tb.Fatal(err)
	}
	return wire.Mount{Source: dir, Target: target}
}

func (b *bed) link(to string, path ...string) {
	b.tb.Helper()
	if err := os.Symlink(to, filepath.Join(path...)); err != nil {
		b.tb.Fatal(err)
	}
}

// imageWith is a copy of the bed's image for a test that changes it.
func (b *bed) imageWith(change func(root string)) imagestore.Image {
	b.tb.Helper()
	root, err := os.MkdirTemp(b.dir, "image-")
	if err == nil {
		err = os.Chmod(root, 0o755)
	}
	if err == nil {
		err = os.Link(filepath.Join(b.dir, "image", "program"), filepath.Join(root, "program"))
	}
	if err != nil {
		b.tb.Fatal(err)
	}
	change(root)
	return imagestore.Image{Root: root}
}

// TestRefused: containers do not start whose pod, image or volume would have something of the node changed, shown or
// uncovered. The numbers are those of published faults of other runtimes.
func TestRefused(t *testing.T) {
	b := newBed(t)
	for what, test := range map[string]struct {
		change func(*cri.Container)
		says   string
	}{
		"a volume in place of the root":              {func(c *cri.Container) { c.Mounts = append(c.Mounts, b.volume("/")) }, "cannot cover"},
		"CVE-2019-16884, a volume in place of /proc": {func(c *cri.Container) { c.Mounts = append(c.Mounts, b.volume("/proc")) }, "cannot cover"},
		"CVE-2019-16884, a volume in /proc, by a link of another one": {func(c *cri.Container) {
			v := b.volume("/data")
			b.link("/proc/self/attr", v.Source, "link")
			c.Mounts = append(c.Mounts, v, b.volume("/data/link"))
		}, "cannot cover"},
		"CVE-2019-19921, CVE-2023-27561, a link in place of /proc": {func(c *cri.Container) {
			c.Image = b.imageWith(func(root string) { b.link("/data/proc", root, "proc") })
			c.Mounts = append(c.Mounts, b.volume("/data"))
		}, "a link in place of the folder /proc"},
		"CVE-2025-52881, a link in place of /sys": {func(c *cri.Container) {
			c.Image = b.imageWith(func(root string) { b.link("/data/sys", root, "sys") })
		}, "a link in place of the folder /sys"},
		"CVE-2024-21626, a working folder by way of a file that is open": {func(c *cri.Container) { c.WorkDir = "/proc/self/fd/7" }, "working folder"},
		"CVE-2024-21626, the same by a link of the image": {func(c *cri.Container) {
			c.Image = b.imageWith(func(root string) { b.link("/proc/self/fd/7", root, "work") })
			c.WorkDir = "/work"
		}, "working folder"},
		"CVE-2025-52565, a terminal by way of a volume": {func(c *cri.Container) {
			v := b.volume("/dev")
			b.link("/etc/hosts", v.Source, "ptmx")
			c.Mounts, c.Config.Tty = append(c.Mounts, v), true
		}, "terminal"},
		"CVE-2024-40635, a user above all numbers": {func(c *cri.Container) { c.Image.Config.User = "4294967296" }, "no user"},
		"CVE-2024-40635, a user below all numbers": {func(c *cri.Container) { c.Image.Config.User = "-1" }, "no user"},
		"a source that has become a link": {func(c *cri.Container) {
			v := b.volume("/data")
			b.link("/etc", v.Source, "link")
			v.Source = filepath.Join(v.Source, "link")
			c.Mounts = append(c.Mounts, v)
		}, "its source"},
	} {
		t.Run(what, func(t *testing.T) {
			c := b.describe()
			test.change(&c)
			p, err := b.starter.Prepare(c)
			if err == nil {
				var started cri.Process
				if started, err = p.Start(); err == nil {
					end(started)
				}
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("started: %v", err)
			}
		})
	}
}

// TestWorkingFolder: whatever number a container's working folder names (CVE-2024-21626), it is in the container.
func TestWorkingFolder(t *testing.T) {
	b := newBed(t)
	for fd := range 24 {
		c := b.describe()
		p, err := b.starter.Prepare(c)
		if err != nil {
			t.Fatal(err)
		}
		// As the process finds it after all that it makes before.
		p.(*prepared).spec.Dir = fmt.Sprintf("/proc/self/fd/%d", fd)
		if started, err := p.Start(); err == nil {
			cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", started.(*isolated).child.pid))
			t.Errorf("file %d is the working folder %s", fd, cwd)
			end(started)
		}
	}
}

// TestMasked: a volume in place of /dev (CVE-2025-31133) does not decide what hides parts of /proc.
func TestMasked(t *testing.T) {
	b := newBed(t)
	c := b.describe()
	v := b.volume("/dev")
	if err := os.WriteFile(filepath.Join(v.Source, "hosts"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.link("hosts", v.Source, "null")
	c.Mounts = append(c.Mounts, v)
	started := b.start(b.prepare(c))
	defer end(started)
	root := fmt.Sprintf("/proc/%d/root", started.(*isolated).child.pid)
	for _, hidden := range []string{"proc/keys", "proc/timer_list", "proc/kcore"} {
		info, err := os.Stat(filepath.Join(root, hidden))
		if err == nil && info.Mode()&os.ModeCharDevice == 0 {
			t.Errorf("%s is %s", hidden, info.Mode())
		}
	}
}

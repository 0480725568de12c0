package isolated

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// pointed is a container with its image's folder, to lay points below.
type pointed struct {
	*testing.T
	image, points string
	file, folder  string // what volumes show
}

func newPointed(t *testing.T) pointed {
	t.Helper()
	p := pointed{T: t, image: filepath.Join(t.TempDir(), "image"), points: filepath.Join(t.TempDir(), "points"), folder: t.TempDir()}
	p.file = filepath.Join(p.folder, "file")
	if err := os.WriteFile(p.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.made(os.MkdirAll(filepath.Join(p.image, "var"), 0o755))
	return p
}

func (p pointed) made(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// lay returns the tree below the image.
func (p pointed) lay(mounts ...wire.Mount) string {
	p.Helper()
	c := wire.Container{Lower: []string{p.image}, Mounts: mounts}
	p.made(addMountPointLayer(&c, p.points))
	if len(c.Lower) != 2 || c.Lower[0] != p.image {
		p.Fatalf("layers: %q", c.Lower)
	}
	return c.Lower[1]
}

// is checks what there is of a path in a tree: "file", "folder" or "" for nothing.
func (p pointed) is(tree, path, want string) {
	p.Helper()
	got := ""
	if info, err := os.Lstat(filepath.Join(tree, path)); err == nil {
		got = map[bool]string{true: "folder", false: "file"}[info.IsDir()]
	}
	if got != want {
		p.Errorf("%s is %q, want %q", path, got, want)
	}
}

// TestPoints: what every container has something mounted on is there, by way of the image's links, and as what that is;
// what a pod asks for is not, since folders that come from below cannot be renamed.
func TestPoints(t *testing.T) {
	p := newPointed(t)
	p.made(os.Symlink("/run", filepath.Join(p.image, "var", "run")))
	p.made(os.Symlink("../../outside", filepath.Join(p.image, "etc")))
	tree := p.lay(
		wire.Mount{Source: p.folder, Target: "/var/run/secrets/kubernetes.io/serviceaccount"}, wire.Mount{Source: p.file, Target: "/etc/hosts"},
		wire.Mount{Source: p.file, Target: "/dev/termination-log"}, wire.Mount{Source: p.folder, Target: "/data"},
	)
	for path, want := range map[string]string{
		"proc": "folder", "sys": "folder", "dev": "folder", "dev/termination-log": "", "work": "", "data": "",
		"run/secrets/kubernetes.io/serviceaccount": "folder", "var": "", "etc": "", "outside/hosts": "file", "../outside": "",
	} {
		p.is(tree, path, want)
	}
}

// TestPointsShared: containers that need the same have the same, in whatever order, others do not, and nothing
// unfinished is left.
func TestPointsShared(t *testing.T) {
	p := newPointed(t)
	hosts, name := wire.Mount{Source: p.file, Target: "/etc/hosts"}, wire.Mount{Source: p.file, Target: "/etc/hostname"}
	first, again, other := p.lay(hosts, name), p.lay(name, hosts), p.lay(wire.Mount{Source: p.folder, Target: "/etc/hosts"})
	if first != again || first == other {
		t.Errorf("%s, %s, and a folder: %s", first, again, other)
	}
	p.is(first, "etc/hosts", "file")
	p.is(other, "etc/hosts", "folder")
	if all, err := os.ReadDir(p.points); err != nil || len(all) != 2 {
		t.Errorf("%d trees: %v (%v)", len(all), all, err)
	}
}

// TestPointsInTheWay: without a tree a container starts as well.
func TestPointsInTheWay(t *testing.T) {
	p := newPointed(t)
	p.made(os.WriteFile(p.points, nil, 0o600))
	c := wire.Container{Lower: []string{p.image}}
	if err := addMountPointLayer(&c, p.points); err != nil || len(c.Lower) != 1 {
		t.Errorf("layers: %q (%v)", c.Lower, err)
	}
}

// TestPointsAstray: an image whose links lead nowhere is refused, and so is a file that is missing.
func TestPointsAstray(t *testing.T) {
	p := newPointed(t)
	missing := wire.Mount{Source: filepath.Join(p.folder, "missing"), Target: "/etc/hosts"}
	if err := addMountPointLayer(&wire.Container{Lower: []string{p.image}, Mounts: []wire.Mount{missing}}, p.points); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is missing: %v", err)
	}
	p.made(os.Symlink("proc", filepath.Join(p.image, "proc")))
	if err := addMountPointLayer(&wire.Container{Lower: []string{p.image}}, p.points); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop: %v", err)
	}
}

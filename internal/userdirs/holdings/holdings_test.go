package holdings_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/userdirs"
	"github.com/slipway-dev/slipway/internal/userdirs/holdings"
)

var (
	slot = strings.Repeat("0a", 16)
	ours = []string{
		"programs/" + slot + "/slipway-check", "images/index.json", "images/layout/blobs/sha256/x", "downloads/slipway_v0.1.0_linux_amd64.tar.gz.00.part",
		"images/work-1/x", "images/programs/" + slot + "/manager", "addons/cert-manager-" + slot + "/go.mod", "definitions/" + strings.Repeat("b", 64) + ".yaml", "runs/" + strings.Repeat("c", 64), "checked/" + slot + ".json",
	}
	// marked are folders of ours that are known by their marks.
	marked = []string{"images/work-1", "images/programs/" + slot}
	// others are files of the user's, who has made a folder with other things the cache, and what no command may lose.
	others = []string{"programs/mine/x", "images/holiday.jpg", "downloads/paper.pdf", "journal/key", "locks/x", "programs/" + slot + ".lock", "images/lock", "runs/x",
		"images/work-holiday/x", "images/programs/mine/main.go", "images/programs/" + strings.Repeat("d", 32) + "/x", "downloads/v0.1.0.lock", "downloads/slipway_v0.2.0_linux_amd64.tar.gz"}
)

func fill(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, name := range slices.Concat(ours, others) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("0123456789"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range marked {
		mark(t, filepath.Join(root, filepath.FromSlash(name)))
	}
	return root
}

func mark(t *testing.T, folder string) {
	t.Helper()
	if err := errors.Join(os.Chmod(folder, 0o700), userdirs.Mark(folder)); err != nil {
		t.Fatal(err)
	}
}

func clean(t *testing.T, root string, c holdings.Cleaning) (all holdings.Cleaned) {
	t.Helper()
	for _, kind := range holdings.Kinds() {
		cleaned, err := kind.Clean(root, c)
		if err != nil {
			t.Fatal(kind.Name, err)
		}
		all.Entries += cleaned.Entries
		all.Bytes += cleaned.Bytes
		all.Busy = append(all.Busy, cleaned.Busy...)
	}
	return all
}

func there(root string, names []string) (n int) {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			n++
		}
	}
	return n
}

// TestClean: what slipway has made goes, and nothing else; what is measured is what is removed.
func TestClean(t *testing.T) {
	root := fill(t)
	var use holdings.Use
	for _, kind := range holdings.Kinds() {
		u, err := kind.Measure(root)
		if err != nil {
			t.Fatal(err)
		}
		use.Entries, use.Bytes = use.Entries+u.Entries, use.Bytes+u.Bytes
	}
	bytes := int64(10 * len(ours))
	for _, name := range marked {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name), ".slipway-folder"))
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	if use.Entries != len(ours) || use.Bytes != bytes {
		t.Errorf("measured %+v", use)
	}
	if all := clean(t, root, holdings.Cleaning{DryRun: true}); all.Entries != len(ours) || there(root, ours) != len(ours) {
		t.Errorf("a dry run: %+v, %d are there", all, there(root, ours))
	}
	if all := clean(t, root, holdings.Cleaning{Unused: time.Hour}); all.Entries != 0 {
		t.Errorf("of what was used within an hour went: %+v", all)
	}
	if all := clean(t, root, holdings.Cleaning{}); all.Entries != use.Entries || all.Bytes != use.Bytes {
		t.Errorf("removed %+v, of %+v", all, use)
	}
	if there(root, ours) != 0 || there(root, others) != len(others) {
		t.Errorf("there are %d of ours and %d of %d others", there(root, ours), there(root, others), len(others))
	}
	if all := clean(t, root, holdings.Cleaning{}); all.Entries != 0 {
		t.Errorf("again: %+v", all)
	}
}

// TestInUse: a program that runs, what another command fills or downloads, and images that are read stay.
func TestInUse(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows itself refuses to remove what runs")
	}
	root := fill(t)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "programs", slot, "running")
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	reader := flock.New(filepath.Join(root, "images", "readers"))
	if _, err := reader.TryRLock(); err != nil {
		t.Fatal(err)
	}
	download := flock.New(filepath.Join(root, "downloads", "v0.1.0.lock"))
	if _, err := download.TryLock(); err != nil {
		t.Fatal(err)
	}
	all := clean(t, root, holdings.Cleaning{})
	if len(all.Busy) != 3 || there(root, ours[:4]) != 4 {
		t.Errorf("in use are %v; %d of 4 stay", all.Busy, there(root, ours[:4]))
	}
	if err := download.Unlock(); err != nil {
		t.Fatal(err)
	}
	filling := flock.New(filepath.Join(root, "programs", slot+".lock"))
	if _, err := filling.TryLock(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := reader.Unlock(); err != nil {
		t.Fatal(err)
	}
	if all := clean(t, root, holdings.Cleaning{}); len(all.Busy) != 1 || there(root, ours[:3]) != 1 {
		t.Errorf("in use are %v; %d of 1 stay", all.Busy, there(root, ours[:3]))
	}
}

// TestKubectlIsSlipway: links for envtest are not in use because kubectl among them is slipway itself.
func TestKubectlIsSlipway(t *testing.T) {
	root := t.TempDir()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "assets", slot[:16])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, filepath.Join(dir, "kubectl")); err != nil {
		t.Skip("the system has no links:", err)
	}
	if all := clean(t, root, holdings.Cleaning{}); all.Entries != 1 || len(all.Busy) != 0 {
		t.Errorf("removed %+v", all)
	}
}

// TestLinksAreNotFollowed: a link in the cache goes, and what it leads to stays.
func TestLinksAreNotFollowed(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "addons"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(root, "addons", "x-"+slot)); err != nil {
		t.Skip("the system has no links:", err)
	}
	if all := clean(t, root, holdings.Cleaning{}); all.Entries != 1 || there(elsewhere, []string{"mine"}) != 1 {
		t.Errorf("removed %+v", all)
	}
}

// TestBuilding: an image that another command builds stays, and what the build has so far.
func TestBuilding(t *testing.T) {
	for _, name := range []string{"work-1/.in-use", "programs/" + slot + "/lock"} {
		root := fill(t)
		path := filepath.Join(root, "images", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		building := flock.New(path)
		if _, err := building.TryLock(); err != nil {
			t.Fatal(err)
		}
		if all := clean(t, root, holdings.Cleaning{}); len(all.Busy) != 1 || all.Busy[0] != path || there(root, ours[1:3]) != 2 {
			t.Errorf("%s: in use are %v; %d of 2 stay", name, all.Busy, there(root, ours[1:3]))
		}
		if err := building.Unlock(); err != nil {
			t.Fatal(err)
		}
		if all := clean(t, root, holdings.Cleaning{}); len(all.Busy) != 0 || there(root, []string{"images/" + name}) != 0 {
			t.Errorf("%s: in use are %v", name, all.Busy)
		}
	}
}

// TestPageHasLimits: the page of the cache says of each kind what the list says.
func TestPageHasLimits(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/cache.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range holdings.Kinds() {
		_, row, found := strings.Cut(string(page), "\n| `"+kind.Name+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		if _, kept, _ := strings.Cut(row, " | "); !found || !strings.HasPrefix(kept, kind.Limit) {
			t.Errorf("the page says of %s %q, the list %q", kind.Name, row, kind.Limit)
		}
	}
}

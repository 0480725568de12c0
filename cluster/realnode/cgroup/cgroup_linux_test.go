package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// built is the folder of slipway-container, which all tests use.
var built string

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if built, err = os.MkdirTemp("", "cgroup-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(built)
	build := exec.Command("go", "build", "-o", built, "../../cmd/slipway-container")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build slipway-container:", err)
		return 1
	}
	return m.Run()
}

// open opens a tree of this machine's, where it allows one.
func open(t *testing.T) *Tree {
	t.Helper()
	tree, err := Open(Options{Sweeper: filepath.Join(built, "slipway-container"), Log: os.Stderr})
	if errors.Is(err, ErrForbidden) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// run runs a program in a cgroup, which it joins before it begins: a shell does so with what it inherits.
func run(t *testing.T, files []*os.File, script string) error {
	t.Helper()
	cmd := exec.Command("sh", "-c", `for fd in 3 4 5 6 7; do if [ -e /proc/self/fd/$fd ]; then echo 0 >&$fd; fi; done; `+script)
	cmd.ExtraFiles, cmd.Stderr = files, os.Stderr
	return cmd.Run()
}

// TestMachine limits and measures a process in a real cgroup.
func TestMachine(t *testing.T) {
	tree := open(t)
	node := tree.Node()
	files, err := node.Make("c", wire.Limits{Memory: 24 << 20, CPUQuota: 50_000, CPUPeriod: 100_000, CPUShares: 512, PIDs: 100})
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t, files, "head -c 200000000 /dev/zero | tail >/dev/null"); err == nil {
		t.Log("the shell survived its child")
	}
	usage, err := node.Measure("c")
	if err != nil {
		t.Fatal(err)
	}
	timed := tree.unified || tree.dirs[cpuTime] != ""
	if usage.OutOfMemory == 0 || timed && usage.CPU == 0 || usage.MemoryLimit != 24<<20 {
		t.Errorf("used %+v", usage)
	}
	if err := node.Update("c", wire.Limits{Memory: 48 << 20, CPUShares: 2}); err != nil {
		t.Error(err)
	}
	if usage, _ := node.Measure("c"); usage.MemoryLimit != 48<<20 {
		t.Errorf("after the update: %+v", usage)
	}
	if err := node.Update("c", wire.Limits{}); err != nil {
		t.Error(err)
	}
	for _, f := range files {
		_ = f.Close()
	}
	if last, err := node.Remove("c"); err != nil || last.OutOfMemory != usage.OutOfMemory {
		t.Errorf("removed: %+v, %v", last, err)
	}
	if _, err := node.Measure("c"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a removed one: %v", err)
	}
	if _, err := node.Make("left", wire.Limits{}); err != nil {
		t.Error(err)
	}
	if err := node.Close(); err != nil {
		t.Error(err)
	}
	if _, err := node.Make("later", wire.Limits{}); err == nil {
		t.Error("a node that has ended made a cgroup")
	}
	if err := tree.Close(); err != nil {
		t.Error(err)
	}
	gone(t, tree)
}

func gone(t *testing.T, tree *Tree) {
	t.Helper()
	for _, path := range tree.paths() {
		tick, late := time.Tick(2*time.Millisecond), time.After(testlimit.Hang)
		for left := true; left; {
			_, err := os.Stat(path)
			left = err == nil
			select {
			case <-tick:
			case <-late:
				t.Fatalf("%s is left", path)
			}
		}
	}
}

// TestSweeper: cgroups are removed when their process ends without having done it, once the processes in them have
// ended.
func TestSweeper(t *testing.T) {
	tree := open(t)
	files, err := tree.Node().Make("c", wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `for fd in 3 4 5 6 7; do if [ -e /proc/self/fd/$fd ]; then echo 0 >&$fd; fi; done; echo joined; exec cat`)
	cmd.ExtraFiles = files
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_ = tree.end.Close() // as the end of the process does
	_ = in.Close()
	_ = cmd.Wait()
	gone(t, tree)
	if err := tree.sweeper.Wait(); err != nil {
		t.Error(err)
	}
}

// TestLeftovers: what a killed cluster and its killed sweeper have left is removed by the next one, and what is in use
// stays.
func TestLeftovers(t *testing.T) {
	used, left := open(t), open(t)
	if _, err := left.Node().Make("c", wire.Limits{}); err != nil {
		t.Fatal(err)
	}
	_ = left.sweeper.Process.Kill()
	_ = left.sweeper.Wait()
	for _, c := range left.claims {
		_ = c.lock.Close()
	}
	next := open(t)
	gone(t, left)
	for _, path := range used.paths() {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("one in use is gone: %v", err)
		}
	}
	if err := errors.Join(used.Close(), next.Close()); err != nil {
		t.Error(err)
	}
}

// files writes a tree of files; a name that ends with a slash is a folder.
func files(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// cgroup2 are the files of a cgroup of the second version.
func cgroup2(to map[string]string, at, controllers, subtree string) {
	to[at+"/cgroup.procs"], to[at+"/cgroup.type"] = "", "domain\n"
	to[at+"/cgroup.controllers"], to[at+"/cgroup.subtree_control"] = controllers+"\n", subtree+"\n"
}

const mountinfo2 = "30 20 0:26 / DIR/mnt rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

func TestPlace(t *testing.T) {
	const mountinfo1 = `31 30 0:27 / DIR/v1/memory rw - cgroup cgroup rw,memory
32 30 0:28 /slice DIR/v1/cpu rw - cgroup cgroup rw,cpu,cpuacct
33 30 0:29 / DIR/v1/unified rw - cgroup2 cgroup2 rw
`
	for name, c := range map[string]struct {
		files   func(map[string]string)
		unified bool
		parents map[string]string
		wrong   string
	}{
		"first": {
			files: func(f map[string]string) {
				f["self/mountinfo"], f["self/cgroup"] = mountinfo1, "3:cpu,cpuacct:/slice/mine\n4:memory:/m:n\n0::/\n"
				f["v1/memory/m:n/cgroup.procs"], f["v1/cpu/mine/cgroup.procs"] = "", ""
			},
			parents: map[string]string{memory: "v1/memory/m:n", cpu: "v1/cpu/mine", cpuTime: "v1/cpu/mine"},
		},
		"first, out of sight": {
			files: func(f map[string]string) {
				f["self/mountinfo"], f["self/cgroup"] = strings.Replace(mountinfo1, "/ DIR/v1/memory", "/docker/c DIR/v1/memory", 1), "4:memory:/elsewhere\n"
			},
			wrong: "the cgroup /elsewhere is not below /docker/c",
		},
		"second, the parent has all": {
			files: func(f map[string]string) {
				f["self/mountinfo"], f["self/cgroup"] = mountinfo2, "0::/user/app/scope\n"
				cgroup2(f, "mnt", "cpu io memory pids", "cpu memory pids")
				cgroup2(f, "mnt/user", "cpu memory pids", "memory pids")
				cgroup2(f, "mnt/user/app", "memory cpu pids", "memory cpu pids")
				cgroup2(f, "mnt/user/app/scope", "memory cpu pids", "")
			},
			unified: true, parents: map[string]string{memory: "mnt/user/app", cpu: "mnt/user/app", pids: "mnt/user/app"},
		},
		"second, further up is better than to change something": {
			files: func(f map[string]string) {
				f["self/mountinfo"], f["self/cgroup"] = mountinfo2, "0::/a/b\n"
				cgroup2(f, "mnt", "cpu memory pids", "pids cpu memory")
				cgroup2(f, "mnt/a", "cpu memory pids", "memory pids")
				cgroup2(f, "mnt/a/b", "memory pids", "")
			},
			unified: true, parents: map[string]string{memory: "mnt", cpu: "mnt", pids: "mnt"},
		},
		"second, without a controller of CPU time": {
			files: func(f map[string]string) {
				f["self/mountinfo"], f["self/cgroup"] = mountinfo2, "0::/a\n"
				cgroup2(f, "mnt", "memory pids", "memory pids")
				cgroup2(f, "mnt/a", "memory pids", "")
			},
			unified: true, parents: map[string]string{memory: "mnt", pids: "mnt"},
		},
		"second, not threads": {
			files: func(f map[string]string) {
				f["self/mountinfo"], f["self/cgroup"] = mountinfo2, "0::/\n"
				cgroup2(f, "mnt", "memory pids cpu", "memory pids cpu")
				f["mnt/cgroup.type"] = "threaded\n"
			},
			wrong: "is threaded",
		},
		"second, nothing to limit": {
			files: func(f map[string]string) {
				f["self/mountinfo"], f["self/cgroup"] = mountinfo2, "0::/\n"
				cgroup2(f, "mnt", "", "")
			},
			wrong: "has the controller of memory",
		},
		"none": {
			files: func(f map[string]string) { f["self/mountinfo"], f["self/cgroup"] = "", "" },
			wrong: "no controller of memory is mounted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := map[string]string{}
			c.files(f)
			dir := files(t, f)
			p, err := findPlace(filepath.Join(dir, "self"))
			if c.wrong != "" {
				if !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("found %+v, %v", p, err)
				}
				return
			}
			if err != nil || p.unified != c.unified || len(p.parents) != len(c.parents) {
				t.Fatalf("found %+v, %v", p, err)
			}
			for controller, at := range c.parents {
				if p.parents[controller] != filepath.Join(dir, at) {
					t.Errorf("%s is at %s", controller, p.parents[controller])
				}
			}
		})
	}
}

// TestEnable: the children of a cgroup that has controllers are given them where no other has.
func TestEnable(t *testing.T) {
	f := map[string]string{"self/mountinfo": mountinfo2, "self/cgroup": "0::/\n"}
	cgroup2(f, "mnt", "memory", "")
	dir := files(t, f)
	p, err := findPlace(filepath.Join(dir, "self"))
	// The file is not the kernel's: it holds what was written.
	text, _ := os.ReadFile(filepath.Join(dir, "mnt/cgroup.subtree_control"))
	if string(text) != "+memory" {
		t.Errorf("wrote %q; found %+v, %v", text, p, err)
	}
}

// TestForbidden: who may not write to a cgroup cannot make any.
func TestForbidden(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	f := map[string]string{"self/mountinfo": mountinfo2, "self/cgroup": "0::/\n"}
	cgroup2(f, "mnt", "memory pids cpu", "memory pids cpu")
	dir := files(t, f)
	if err := os.Chmod(filepath.Join(dir, "mnt/cgroup.procs"), 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := findPlace(filepath.Join(dir, "self")); !errors.Is(err, os.ErrPermission) || !errors.Is(err, ErrForbidden) {
		t.Error(err)
	}
}

// TestUnified writes the limits of the second version and reads its measurements.
func TestUnified(t *testing.T) {
	dir := files(t, map[string]string{
		"memory.max": "", "memory.swap.max": "", "memory.oom.group": "", "cpu.weight": "", "cpu.max": "", "pids.max": "", "cgroup.procs": "",
		"memory.current": "1000\n", "memory.stat": "anon 300\ninactive_file 400\npgfault 7\npgmajfault 1\n", "memory.events": "low 0\noom 3\noom_kill 2\n",
		"cpu.stat": "usage_usec 12\nnr_throttled 5\n", "pids.current": "4\n",
	})
	g := group{unified: true, dirs: map[string]string{memory: dir, cpu: dir, pids: dir}}
	opened, err := g.limitAndOpen(wire.Limits{Memory: 64 << 20, CPUQuota: 25_000, CPUPeriod: 50_000, CPUShares: 1024, PIDs: 10})
	if err != nil || len(opened) != 1 {
		t.Fatalf("opened %d, %v", len(opened), err)
	}
	expect(t, dir, map[string]string{
		"memory.max": "67108864", "memory.swap.max": "0", "memory.oom.group": "1", "cpu.weight": "100", "cpu.max": "25000 50000", "pids.max": "10",
	})
	want := wire.Usage{
		CPU: 12_000, Memory: 1000, WorkingSet: 600, RSS: 300, Faults: 7, MajorFaults: 1, Processes: 4, MemoryLimit: 64 << 20, OutOfMemory: 2, Throttled: 5,
	}
	if got := g.usage(); got != want {
		t.Errorf("measured %+v", got)
	}
	if err := g.limit(wire.Limits{}); err != nil {
		t.Fatal(err)
	}
	expect(t, dir, map[string]string{"memory.max": "max", "memory.swap.max": "max", "cpu.weight": "1", "cpu.max": "max 100000", "pids.max": "max"})
}

// TestNoQuota: where the kernel has no quotas, processors are shared out all the same, and it is known that there are
// none.
func TestNoQuota(t *testing.T) {
	for name, test := range map[string]struct {
		unified             bool
		shares, want, quota string
	}{
		"first":  {false, "cpu.shares", "1024", "cpu.cfs_quota_us"},
		"second": {true, "cpu.weight", "100", "cpu.max"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := files(t, map[string]string{test.shares: ""})
			all := map[string]string{memory: dir, cpu: dir, pids: dir}
			if err := (group{unified: test.unified, dirs: map[string]string{cpu: dir}}).limit(wire.Limits{CPUQuota: 50_000, CPUShares: 1024}); err != nil {
				t.Error(err)
			}
			expect(t, dir, map[string]string{test.shares: test.want})
			tree := &Tree{unified: test.unified, dirs: all}
			if got := tree.Unlimited(); !slices.Equal(got, []string{cpu}) {
				t.Errorf("without a quota %v is not limited", got)
			}
			write := os.WriteFile(filepath.Join(dir, test.quota), nil, 0o600)
			if got := tree.Unlimited(); write != nil || len(got) > 0 {
				t.Errorf("with a quota %v is not limited, %v", got, write)
			}
		})
	}
}

func expect(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for file, value := range want {
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != value {
			t.Errorf("%s is %q, not %q: %v", file, got, value, err)
		}
	}
}

func TestWeight(t *testing.T) {
	for shares, want := range map[int64]int64{2: 1, 1024: 100, 262144: 10_000, 1 << 30: 10_000} {
		if got := weight(shares); got != want {
			t.Errorf("%d shares are a weight of %d, not %d", shares, got, want)
		}
	}
}

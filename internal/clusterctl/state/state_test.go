package state_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

func env(vars map[string]string) func(string) string {
	return func(key string) string { return vars[key] }
}

func TestLocate(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("USERPROFILE", "/home/me")
	for _, tc := range []struct {
		vars map[string]string
		want string
	}{
		{map[string]string{"SLIPWAY_STATE": "/s", "XDG_STATE_HOME": "/x"}, "/s"},
		{map[string]string{"XDG_STATE_HOME": "/x"}, "/x/slipway"},
		{map[string]string{"XDG_STATE_HOME": "relative"}, "/home/me/.local/state/slipway"},
		{nil, "/home/me/.local/state/slipway"},
	} {
		home, err := state.Locate(env(tc.vars))
		if err != nil || home.Dir != filepath.FromSlash(tc.want) {
			t.Errorf("%v: %s, %v", tc.vars, home.Dir, err)
		}
	}
}

// cluster returns the state of a cluster whose folder exists.
func cluster(t *testing.T, dir string) state.Cluster {
	t.Helper()
	c, err := state.Home{Dir: dir}.Cluster("blue")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Prepare(); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "my-cluster-2": true, strings.Repeat("a", 40): true,
		"": false, "A": false, "-a": false, "a-": false, "a/b": false, "..": false, "a_b": false, strings.Repeat("a", 41): false,
	} {
		_, err := state.Home{Dir: "/s"}.Cluster(name)
		if (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestClusters(t *testing.T) {
	home := state.Home{Dir: t.TempDir()}
	if all, err := home.Clusters(); err != nil || len(all) != 0 {
		t.Errorf("none: %v, %v", all, err)
	}
	cluster(t, home.Dir)
	if err := os.WriteFile(filepath.Join(home.Dir, "clusters", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := home.Clusters()
	if err != nil || len(all) != 1 || all[0].Name != "blue" {
		t.Errorf("one: %v, %v", all, err)
	}
}

// TestForeign: what a user has where clusters would be is no cluster, to be listed, started, stopped or deleted.
func TestForeign(t *testing.T) {
	home := state.Home{Dir: t.TempDir()}
	manifests := filepath.Join(home.Dir, "clusters", "prod")
	if err := errors.Join(os.MkdirAll(filepath.Join(manifests, "logs"), 0o755), os.WriteFile(filepath.Join(manifests, "kustomization.yaml"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	_, err := home.Cluster("prod")
	if e, ok := errors.AsType[*report.Error](err); !ok || !errors.Is(err, state.ErrForeign) || e.Where != manifests || e.Hint == "" {
		t.Errorf("error: %+v", err)
	}
	if all, err := home.Clusters(); err != nil || len(all) != 0 {
		t.Errorf("listed: %v, %v", all, err)
	}
	for _, left := range []string{"lock", "log", "run.json", "data.json", "config.json"} { // of a start that was killed
		c := cluster(t, t.TempDir())
		if err := errors.Join(os.Mkdir(filepath.Join(c.Dir, "etcd"), 0o700), os.WriteFile(filepath.Join(c.Dir, left), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := (state.Home{Dir: filepath.Dir(filepath.Dir(c.Dir))}).Cluster("blue"); err != nil {
			t.Errorf("%s: %v", left, err)
		}
	}
}

func TestUnusableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := state.Home{Dir: file}.Cluster("blue")
	if err != nil {
		t.Fatal(err)
	}
	e, ok := errors.AsType[*report.Error](c.Prepare())
	if !ok || e.Where == "" || !strings.Contains(e.Hint, "SLIPWAY_STATE") {
		t.Errorf("error: %+v", e)
	}
}

// TestSocketPath: a unix socket's path must fit into about a hundred bytes,
// however deep the state folder lies; the socket must work there.
func TestSocketPath(t *testing.T) {
	t.Setenv("TMPDIR", shortDir(t))
	for _, deep := range []bool{false, true} {
		dir := shortDir(t)
		if deep {
			dir = filepath.Join(dir, strings.Repeat("deep/", 30))
		}
		c := cluster(t, dir)
		path, err := c.PrepareSocket()
		if err != nil {
			t.Fatal(err)
		}
		if len(path) > 103 || strings.HasPrefix(path, c.Dir) == deep {
			t.Errorf("deep %v: %s", deep, path)
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("folder: %v, %v", info.Mode(), err)
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
		if _, err := c.PrepareSocket(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Error("an old socket is still in the way")
		}
	}
}

func TestSocketFolderOfSomebodyElse(t *testing.T) {
	t.Setenv("TMPDIR", shortDir(t))
	c := cluster(t, filepath.Join(shortDir(t), strings.Repeat("deep/", 30)))
	if err := os.Mkdir(filepath.Dir(c.SocketPath()), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(c.SocketPath()), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PrepareSocket(); err == nil {
		t.Error("a folder that is open to others is used")
	}
}

// shortDir is a temporary folder with a short path, which t.TempDir is not.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestRun(t *testing.T) {
	c := cluster(t, t.TempDir())
	if _, ok, err := c.Run(); ok || err != nil {
		t.Errorf("before: %v, %v", ok, err)
	}
	run := state.Run{PID: 7, Contexts: []state.Context{{Name: "slipway-blue", Files: []string{"/f"}}}}
	if err := c.WriteRun(run); err != nil {
		t.Fatal(err)
	}
	got, ok, err := c.Run()
	if err != nil || !ok || got.PID != 7 || len(got.Contexts) != 1 || got.Contexts[0].Name != "slipway-blue" {
		t.Errorf("after: %+v, %v, %v", got, ok, err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "run.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := c.Run(); !ok || err != nil {
		t.Errorf("damaged: %v, %v", ok, err)
	}
}

func TestClear(t *testing.T) {
	for _, durable := range []bool{false, true} {
		c := cluster(t, t.TempDir())
		if err := c.WriteConfig(protocol.Config{Spec: protocol.Spec{Durable: durable}}); err != nil {
			t.Fatal(err)
		}
		if keep, err := c.Keeps(); keep != durable || err != nil {
			t.Errorf("durable %v: keeps %v, %v", durable, keep, err)
		}
		if err := c.WriteRun(state.Run{}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"log", "lock", "etcd"} {
			if err := os.WriteFile(filepath.Join(c.Dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Clear(durable); err != nil {
			t.Fatal(err)
		}
		want := []string{"lock", "log"}
		if durable {
			want = []string{"config.json", "etcd", "lock", "log"}
		}
		entries, err := os.ReadDir(c.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, want) {
			t.Errorf("durable %v: %v stays", durable, got)
		}
	}
}

// TestUnknown: data whose configuration is missing or damaged may be a durable cluster's.
func TestUnknown(t *testing.T) {
	for name, text := range map[string]string{"missing": "-", "empty": "", "cut": `{"durable":`, "of another form": `{"durable":"yes"}`} {
		c := cluster(t, t.TempDir())
		if text != "-" {
			if err := os.WriteFile(c.Config(), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if keep, err := c.Keeps(); keep || err != nil {
			t.Errorf("%s, without data: keeps %v, %v", name, keep, err)
		}
		if err := os.Mkdir(filepath.Join(c.Dir, "etcd"), 0o700); err != nil {
			t.Fatal(err)
		}
		if keep, err := c.Keeps(); !keep || !errors.Is(err, state.ErrUnknown) {
			t.Errorf("%s, with data: keeps %v, %v", name, keep, err)
		}
	}
}

func TestAlive(t *testing.T) {
	c := cluster(t, t.TempDir())
	alive := func(want bool) {
		t.Helper()
		if got, err := c.Alive(); err != nil || got != want {
			t.Errorf("alive: %v, %v", got, err)
		}
	}
	alive(false)
	program := flock.New(filepath.Join(c.Dir, "lock"))
	if ok, err := program.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	alive(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := c.WaitDead(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait for what lives: %v", err)
	}
	if err := program.Unlock(); err != nil {
		t.Fatal(err)
	}
	alive(false)
	if err := c.WaitDead(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestHold(t *testing.T) {
	c := cluster(t, t.TempDir())
	release, err := c.Hold(t.Context(), func() { t.Error("waited for nobody") })
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := c.TryHold(); ok || err != nil {
		t.Errorf("held twice: %v, %v", ok, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.Hold(ctx, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	release()
	release, ok, err := c.TryHold()
	if !ok || err != nil {
		t.Errorf("after release: %v, %v", ok, err)
	}
	release()
}

// TestWatch: any number may look at once, and wait for who changes something.
func TestWatch(t *testing.T) {
	c := cluster(t, t.TempDir())
	waited := func() { t.Error("waited") }
	first, err := c.Watch(t.Context(), waited)
	if err != nil {
		t.Fatal(err)
	}
	first() // of what nobody held there is no lock
	hold, err := c.Hold(t.Context(), waited)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := c.TryWatch(); ok || err != nil {
		t.Errorf("watched while it is held: %v, %v", ok, err)
	}
	told := make(chan struct{})
	go func() {
		<-told
		hold()
	}()
	first, err = c.Watch(t.Context(), func() { close(told) })
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Watch(t.Context(), waited)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := c.TryHold(); ok || err != nil {
		t.Errorf("held while it is watched: %v, %v", ok, err)
	}
	first()
	second()
}

func TestLastLines(t *testing.T) {
	c := cluster(t, t.TempDir())
	if got := c.LastLines(3); got != nil {
		t.Errorf("no log: %v", got)
	}
	text := strings.Repeat("much\n", 50_000) + "a\n\n b \r\nc"
	if err := os.WriteFile(c.Log(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.LastLines(3); !slices.Equal(got, []string{"a", " b", "c"}) {
		t.Errorf("last lines: %q", got)
	}
}

func TestLastLinesOfACrash(t *testing.T) {
	c := cluster(t, t.TempDir())
	text := "well\npanic: no room\n\ngoroutine 1 [running]:\nmain.main()\n\t/main.go:3\n"
	if err := os.WriteFile(c.Log(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.LastLines(3); !slices.Equal(got, []string{"well", "panic: no room"}) {
		t.Errorf("last lines: %q", got)
	}
}

// TestSocketPathStays: a program is found where it was told to listen, also from a
// shell that has another temporary folder.
func TestSocketPathStays(t *testing.T) {
	t.Setenv("TMPDIR", shortDir(t))
	c := cluster(t, filepath.Join(shortDir(t), strings.Repeat("deep/", 30)))
	socket, err := c.PrepareSocket()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WriteRun(state.Run{Socket: socket}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", shortDir(t))
	if got := c.SocketPath(); got != socket {
		t.Errorf("the socket moved from %s to %s", socket, got)
	}
}

func TestSocketPathTooLong(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(shortDir(t), strings.Repeat("x", 100)))
	c := cluster(t, filepath.Join(shortDir(t), strings.Repeat("deep/", 30)))
	_, err := c.PrepareSocket()
	if e, ok := errors.AsType[*report.Error](err); !ok || !strings.Contains(e.Hint, "SLIPWAY_STATE") {
		t.Errorf("error: %v", err)
	}
}

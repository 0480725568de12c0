package kubecontext_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-dev/slipway/internal/clusterctl/kubecontext"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// source is a kubeconfig as the cluster program writes it.
const source = "testdata/cluster.yaml"

// home is a folder with kubeconfig files.
type home struct {
	t   *testing.T
	dir string
}

// newHome copies the named files of testdata.
func newHome(t *testing.T, names ...string) home {
	t.Helper()
	h := home{t, t.TempDir()}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(h.path(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h home) path(name string) string { return filepath.Join(h.dir, name) }

func (h home) paths(names ...string) []string {
	for i := range names {
		names[i] = h.path(names[i])
	}
	return names
}

func (h home) add(name string, files []string) kubecontext.Change {
	h.t.Helper()
	change, err := kubecontext.Add(h.t.Context(), files, name, source)
	if err != nil {
		h.t.Fatal(err)
	}
	return change
}

func (h home) remove(name, previous string, files []string) {
	h.t.Helper()
	h.undo(name, kubecontext.Change{Files: files, Previous: previous})
}

func (h home) undo(name string, changes ...kubecontext.Change) {
	h.t.Helper()
	if err := kubecontext.Remove(h.t.Context(), name, changes); err != nil {
		h.t.Fatal(err)
	}
}

// golden compares a file with what testdata expects.
func (h home) golden(name, golden string) {
	h.t.Helper()
	got, err := os.ReadFile(h.path(name))
	if err != nil {
		h.t.Fatal(err)
	}
	golden = filepath.Join("testdata", golden)
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			h.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		h.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		h.t.Errorf("%s differs from %s:\n%s", name, golden, diff)
	}
}

// current is the context that kubectl would use with files.
func (h home) current(files []string) string {
	h.t.Helper()
	rules := clientcmd.ClientConfigLoadingRules{Precedence: files}
	config, err := rules.Load()
	if err != nil {
		h.t.Fatal(err)
	}
	return config.CurrentContext
}

func TestAddAndRemove(t *testing.T) {
	h := newHome(t, "user.yaml")
	files := h.paths("user.yaml")
	change := h.add("slipway-dev", files)
	if want := (kubecontext.Change{Files: files, Selected: files[0], Previous: "work"}); !cmp.Equal(change, want) {
		t.Errorf("change %+v, want %+v", change, want)
	}
	h.golden("user.yaml", "user-added.golden")
	h.add("slipway-dev", files)
	h.golden("user.yaml", "user-added.golden")
	h.remove("slipway-dev", change.Previous, files)
	h.golden("user.yaml", "user-removed.golden")
}

func TestNewFile(t *testing.T) {
	h := newHome(t)
	files := h.paths("new/config")
	if change := h.add("slipway-dev", files); change.Previous != "" {
		t.Errorf("change %+v", change)
	}
	h.golden("new/config", "new.golden")
	info, err := os.Stat(files[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if locks, _ := filepath.Glob(files[0] + ".*"); len(locks) > 0 {
		t.Errorf("left behind: %v", locks)
	}
}

// TestSeveralFiles: kubectl reads all files, takes the first current context, and
// enters new contexts into the first file that exists.
func TestSeveralFiles(t *testing.T) {
	h := newHome(t, "empty.yaml", "user.yaml")
	files := h.paths("missing.yaml", "empty.yaml", "user.yaml")
	change := h.add("slipway-dev", files)
	if change.Selected != files[2] || change.Previous != "work" {
		t.Errorf("change %+v", change)
	}
	if config, err := clientcmd.LoadFromFile(files[1]); err != nil || config.Contexts["slipway-dev"] == nil {
		t.Errorf("the context is not in the first file that exists: %v", err)
	}
	if got := h.current(files); got != "slipway-dev" {
		t.Errorf("current context %q", got)
	}
	h.remove("slipway-dev", change.Previous, files)
	if got := h.current(files); got != "work" {
		t.Errorf("current context %q after removal", got)
	}
	if _, err := os.Stat(files[0]); err == nil {
		t.Error("the missing file was made")
	}
}

func TestNoneOfSeveralFilesExists(t *testing.T) {
	h := newHome(t)
	files := h.paths("a", "b")
	if change := h.add("slipway-dev", files); change.Selected != files[1] {
		t.Errorf("change %+v", change)
	}
}

// TestEachFileGetsItsOwnBack enters a context with two values of KUBECONFIG that share a file.
func TestEachFileGetsItsOwnBack(t *testing.T) {
	h := newHome(t, "user.yaml", "empty.yaml")
	other := newHome(t, "user.yaml")
	config, err := clientcmd.LoadFromFile(other.path("user.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config.CurrentContext = "play"
	if err := clientcmd.WriteToFile(*config, other.path("user.yaml")); err != nil {
		t.Fatal(err)
	}
	shared, own := h.path("user.yaml"), other.path("user.yaml")
	first := h.add("slipway-dev", []string{shared})
	second := h.add("slipway-dev", []string{own, shared})
	gone := kubecontext.Change{Files: h.paths("no/such/file")}
	broken := newHome(t, "broken.yaml").path("broken.yaml")
	err = kubecontext.Remove(t.Context(), "slipway-dev", []kubecontext.Change{first, gone, {Files: []string{broken}}, second})
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != broken {
		t.Errorf("the broken file: %v", err)
	}
	for file, want := range map[string]string{shared: "work", own: "play"} {
		config, err := clientcmd.LoadFromFile(file)
		if err != nil || config.CurrentContext != want || config.Contexts["slipway-dev"] != nil || config.AuthInfos["slipway-dev"] != nil {
			t.Errorf("%s selects %q, want %q; %v", file, config.CurrentContext, want, err)
		}
	}
}

// TestInterruptedWriteIsTold: who finds a kubeconfig cut short learns where the former one is.
func TestInterruptedWriteIsTold(t *testing.T) {
	h := newHome(t, "broken.yaml")
	backup := safefs.Backup(h.path("broken.yaml"))
	if err := os.WriteFile(backup, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if e, ok := errors.AsType[*report.Error](kubecontext.Check(h.paths("broken.yaml"))); !ok || !strings.Contains(e.Hint, backup) {
		t.Errorf("error: %+v", e)
	}
}

func TestUserChoseAnotherContext(t *testing.T) {
	h := newHome(t, "user.yaml")
	files := h.paths("user.yaml")
	change := h.add("slipway-dev", files)
	config, err := clientcmd.LoadFromFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	config.CurrentContext = "play"
	if err := clientcmd.WriteToFile(*config, files[0]); err != nil {
		t.Fatal(err)
	}
	h.remove("slipway-dev", change.Previous, files)
	if got := h.current(files); got != "play" {
		t.Errorf("current context %q", got)
	}
}

func TestPreviousContextIsGone(t *testing.T) {
	h := newHome(t, "user.yaml")
	files := h.paths("user.yaml")
	h.add("slipway-dev", files)
	h.remove("slipway-dev", "nowhere", files)
	if got := h.current(files); got != "" {
		t.Errorf("current context %q", got)
	}
}

func TestRemoveFromMissingFile(t *testing.T) {
	h := newHome(t)
	h.remove("slipway-dev", "", h.paths("no/folder/config"))
	if left, _ := os.ReadDir(h.dir); len(left) > 0 {
		t.Errorf("made: %v", left)
	}
}

func TestSymbolicLinkStays(t *testing.T) {
	h := newHome(t, "user.yaml")
	if err := os.Symlink("user.yaml", h.path("link")); err != nil {
		t.Skip(err)
	}
	h.add("slipway-dev", h.paths("link"))
	if target, err := os.Readlink(h.path("link")); err != nil || target != "user.yaml" {
		t.Errorf("link: %q, %v", target, err)
	}
	h.golden("user.yaml", "user-added.golden")
}

func TestBrokenFileIsKept(t *testing.T) {
	h := newHome(t, "broken.yaml")
	_, err := kubecontext.Add(t.Context(), h.paths("broken.yaml"), "slipway-dev", source)
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != h.path("broken.yaml") {
		t.Errorf("error: %v", err)
	}
	before, _ := os.ReadFile("testdata/broken.yaml")
	if after, _ := os.ReadFile(h.path("broken.yaml")); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

func TestLockedFile(t *testing.T) {
	h := newHome(t, "user.yaml")
	lock := h.path("user.yaml.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := kubecontext.Add(ctx, h.paths("user.yaml"), "slipway-dev", source)
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != lock || e.Next == "" {
		t.Errorf("error: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := kubecontext.Add(ctx, h.paths("user.yaml"), "slipway-dev", source); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Error("somebody else's lock was removed")
	}
}

// TestAtOnce changes one file by many and by client-go, and wants no change lost.
func TestAtOnce(t *testing.T) {
	h := newHome(t, "user.yaml")
	files := h.paths("user.yaml")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := kubecontext.Add(t.Context(), files, fmt.Sprintf("slipway-%d", i), source); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	config, err := clientcmd.LoadFromFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Contexts) != 8+2 || len(config.Clusters) != 8+1 {
		t.Errorf("%d contexts, %d clusters", len(config.Contexts), len(config.Clusters))
	}
}

func TestFiles(t *testing.T) {
	list := func(value string) []string {
		t.Helper()
		files, err := kubecontext.Files(func(key string) string {
			return map[string]string{"KUBECONFIG": value}[key]
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	sep := string(os.PathListSeparator)
	if got := list("/a" + sep + sep + "/b" + sep + "/a"); !slices.Equal(got, []string{"/a", "/b"}) {
		t.Errorf("list: %v", got)
	}
	t.Setenv("HOME", "/home/me")
	t.Setenv("USERPROFILE", "/home/me")
	if got := list(""); !slices.Equal(got, []string{filepath.FromSlash("/home/me/.kube/config")}) {
		t.Errorf("default: %v", got)
	}
}

func FuzzAddAndRemove(f *testing.F) {
	for _, name := range []string{"user.yaml", "empty.yaml", "broken.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := clientcmd.LoadFromFile(path)
		if err != nil || before.Contexts["slipway-fuzz"] != nil || before.Clusters["slipway-fuzz"] != nil || before.AuthInfos["slipway-fuzz"] != nil {
			return
		}
		change, err := kubecontext.Add(t.Context(), []string{path}, "slipway-fuzz", source)
		if err != nil {
			t.Fatal(err)
		}
		if err := kubecontext.Remove(t.Context(), "slipway-fuzz", []kubecontext.Change{change}); err != nil {
			t.Fatal(err)
		}
		after, err := clientcmd.LoadFromFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if before.Contexts[before.CurrentContext] == nil {
			before.CurrentContext = ""
		}
		if got, want := normal(t, after), normal(t, before); got != want {
			t.Errorf("before:\n%s\nafter:\n%s", want, got)
		}
	})
}

// normal is a kubeconfig as client-go writes it.
func normal(t *testing.T, c *api.Config) string {
	t.Helper()
	text, err := clientcmd.Write(*c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

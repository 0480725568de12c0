package logs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir, "etcd", "controllers")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lines returns the log at path with all times replaced by T.
func lines(t *testing.T, path string) string {
	t.Helper()
	return regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z `).ReplaceAllString(read(t, path), "T ")
}

// TestContextualLog follows what a controller logs.
func TestContextualLog(t *testing.T) {
	dir := t.TempDir()
	log := logr.FromSlogHandler(open(t, dir).Logger("controllers").Handler())
	ctx := klog.NewContext(context.Background(), log.WithName("job").WithValues("job", klog.KRef("dock", "sail")))
	klog.FromContext(ctx).V(2).Info("Finished syncing", "elapsed", 3*time.Millisecond)
	klog.FromContext(ctx).V(4).Info("Too much detail")
	klog.FromContext(ctx).Error(errors.New("no wind\nat all"), "Cannot sail", "to", types.NamespacedName{Namespace: "sea", Name: "north"})
	want := `T I Finished syncing job=dock/sail logger=job elapsed=3ms
T E Cannot sail job=dock/sail logger=job err="no wind\nat all" to=sea/north
`
	if got := lines(t, filepath.Join(dir, "controllers.log")); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := read(t, filepath.Join(dir, "etcd.log")); got != "" {
		t.Errorf("another component's log has %q", got)
	}
}

func TestGroups(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir).Logger("etcd").With("a", 1).WithGroup("g").With("b", "two words")
	log.Warn("first\nsecond", slog.Group("h", "c", nil))
	want := "T W first\n\tsecond a=1 g.b=\"two words\" g.h.c=<nil>\n"
	if got := lines(t, filepath.Join(dir, "etcd.log")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestKlogLines(t *testing.T) {
	at := time.Date(2026, 1, 2, 16, 4, 5, 6000, time.FixedZone("", 3600))
	for from, want := range map[string]string{
		"W0102 16:04:05.000006   12345 server.go:12] Webhook [x] fails\n": "2026-01-02T15:04:05.000006Z W Webhook [x] fails\n",
		"F0102 16:04:05.000006   12345 hook.go:1] It\nended\n":            "2026-01-02T15:04:05.000006Z E It\n\tended\n",
		"goroutine 1 [running]:\nmain.main()\n":                           "\tgoroutine 1 [running]:\n\tmain.main()\n",
	} {
		if got := string(fromKlog([]byte(from), at)); got != want {
			t.Errorf("%q became %q, want %q", from, got, want)
		}
	}
}

// TestSizeIsBounded writes more than two files may hold.
func TestSizeIsBounded(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	f.files["etcd"].max = 1000
	for i := range 100 {
		f.Logger("etcd").Error(fmt.Sprintf("entry %d", i))
	}
	path := filepath.Join(dir, "etcd.log")
	text := read(t, path+".1") + read(t, path)
	if len(text) > 2000 || !strings.HasSuffix(text, "E entry 99\n") || strings.Count(text, "\n") < 30 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	open(t, dir)
	if _, err := os.Stat(path + ".1"); err == nil || read(t, path) != "" {
		t.Error("a new run begins with the log of an old one")
	}
}

func TestSilence(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	f.Silence()
	f.Logger("etcd").Error("too late")
	f.Logger("nobody").Error("dropped")
	if got := read(t, filepath.Join(dir, "etcd.log")); got != "" {
		t.Errorf("after silence: %q", got)
	}
}

func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	open(t, dir)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "etcd.log"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

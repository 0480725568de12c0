package userdirs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// homeless is an environment in which the system knows no cache folder of the user.
func homeless(t *testing.T) {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData", "home"} {
		t.Setenv(name, "")
	}
}

func unset(string) string { return "" }

func named(folder string) func(string) string {
	return func(name string) string { return map[string]string{CacheVariable: folder}[name] }
}

func TestRoot(t *testing.T) {
	usual, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for _, test := range []struct {
		name   string
		getenv func(string) string
		want   string
	}{
		{"usual", unset, filepath.Join(usual, "slipway")},
		{"named", named(elsewhere), elsewhere},
		{"relative", named("kept"), filepath.Join(here, "kept")},
	} {
		if got, err := Cache(test.getenv); err != nil || got != test.want {
			t.Errorf("%s: Cache = %q, %v; want %q", test.name, got, err, test.want)
		}
	}
}

func TestRootWithoutHome(t *testing.T) {
	homeless(t)
	if _, err := Cache(unset); err == nil {
		t.Error("Root has a folder for a user without a home")
	} else if told, ok := errors.AsType[*report.Error](err); !ok || told.Hint == "" {
		t.Errorf("Root's error has no hint: %v", err)
	}
	elsewhere := t.TempDir()
	if got, err := Cache(named(elsewhere)); err != nil || got != elsewhere {
		t.Errorf("Root = %q, %v although SLIPWAY_CACHE names %q", got, err, elsewhere)
	}
}

// TestLocksStay: two commands that wait for each other may have different caches.
func TestLocksStay(t *testing.T) {
	before := locks(t)
	t.Setenv(CacheVariable, t.TempDir())
	if after := locks(t); after != before {
		t.Errorf("SLIPWAY_CACHE moves the locks from %q to %q", before, after)
	}
	homeless(t)
	for _, name := range []string{"TMPDIR", "TMP"} {
		t.Setenv(name, t.TempDir())
	}
	if rel, err := filepath.Rel(os.TempDir(), locks(t)); err != nil || !filepath.IsLocal(rel) {
		t.Errorf("a user without a home has locks in %q, not below %q", locks(t), os.TempDir())
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(PrivatePath(), 0o777); err != nil {
		t.Fatal(err)
	}
	if dir, err := Locks(); err == nil {
		t.Errorf("the locks are in %q, which is open to others", dir)
	}
}

func locks(t *testing.T) string {
	t.Helper()
	dir, err := Locks()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

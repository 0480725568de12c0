package setupenvtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// newTool has a program of its own, which the names stand for.
func newTool(t *testing.T) (tool Tool, warnings *[]string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, fileName(name)), []byte("the program as "+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	warnings = new([]string)
	var mu sync.Mutex
	return Tool{
		Store:    Store{Dir: filepath.Join(t.TempDir(), "bin")},
		Programs: func(context.Context) (string, error) { return dir, nil },
		Handler: report.HandlerFunc(func(e report.Event) {
			mu.Lock()
			defer mu.Unlock()
			*warnings = append(*warnings, e.(report.Warning).Text)
		}),
	}, warnings
}

func use(t *testing.T, tool Tool, r Request) Used {
	t.Helper()
	if r.Platform == (Platform{}) {
		r.Platform = Host()
	}
	used, err := tool.Use(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func read(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, fileName("etcd")))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUseAgainChangesNothing(t *testing.T) {
	tool, warnings := newTool(t)
	used := use(t, tool, Request{})
	link := filepath.Join(used.Path, fileName("etcd"))
	before, err := os.Lstat(link)
	if err != nil {
		t.Fatal(err)
	}
	if again := use(t, tool, Request{}); again != used {
		t.Errorf("first %v, then %v", used, again)
	}
	if after, err := os.Lstat(link); err != nil || !os.SameFile(before, after) {
		t.Errorf("the link was made again (%v)", err)
	}
	if len(*warnings) > 0 {
		t.Errorf("warnings: %q", *warnings)
	}
}

// Two make targets may run the tool at once.
func TestUseAtOnce(t *testing.T) {
	tool, _ := newTool(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			used, err := tool.Use(t.Context(), Request{Platform: Host()})
			if err != nil {
				t.Error(err)
				return
			}
			for _, name := range names {
				if _, err := os.Stat(filepath.Join(used.Path, fileName(name))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if left, err := os.ReadDir(tool.Store.root()); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestUseFollowsTheProgram(t *testing.T) {
	tool, _ := newTool(t)
	used := use(t, tool, Request{})
	newer, _ := newTool(t)
	tool.Programs = newer.Programs
	dir, _ := newer.Programs(t.Context())
	if err := os.WriteFile(filepath.Join(dir, fileName("etcd")), []byte("newer"), 0o755); err != nil {
		t.Fatal(err)
	}
	use(t, tool, Request{})
	if got := read(t, used.Path); got != "newer" {
		t.Errorf("etcd is %q", got)
	}
}

func TestOthersProgramsStay(t *testing.T) {
	tool, _ := newTool(t)
	folder := tool.Store.Path(own())
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, fileName("etcd")), []byte("downloaded"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o555); err != nil { // as the peer leaves it
		t.Fatal(err)
	}
	use(t, tool, Request{})
	if got := read(t, folder); got != "downloaded" {
		t.Errorf("etcd is %q", got)
	}
	use(t, tool, Request{Force: true})
	if got := read(t, folder); got != "the program as etcd" {
		t.Errorf("by force etcd is %q", got)
	}
}

func TestCopyWhereLinksDoNotServe(t *testing.T) {
	from := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(from, []byte("content"), 0o755); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "etcd")
	if err := copyFile(from, to); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(to)
	if err != nil || info.Mode()&0o111 == 0 || !stands(to, from) {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(from, []byte("other content"), 0o755); err != nil {
		t.Fatal(err)
	}
	if stands(to, from) {
		t.Error("an old copy passes for the program")
	}
}

func TestBadArchiveLeavesWhatIsThere(t *testing.T) {
	tool, _ := newTool(t)
	used := use(t, tool, Request{})
	r := Request{Selector: selector(t, Kubernetes), Platform: Host()}
	if _, err := tool.Sideload(r, strings.NewReader("no archive")); err == nil {
		t.Error("it was taken")
	}
	if got := read(t, used.Path); got != "the program as etcd" {
		t.Errorf("etcd is %q", got)
	}
	if left, err := os.ReadDir(tool.Store.root()); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestLargeArchive: what an archive unpacks to has limits, also where its files are passed over.
func TestLargeArchive(t *testing.T) {
	for name, tc := range map[string]struct {
		kind    byte
		entries int
		want    error
	}{
		"as much as may be": {tar.TypeReg, 2, nil}, "a large file": {tar.TypeReg, 1, errBytes}, "many files": {tar.TypeReg, 3, errMany},
		"a large one passed over": {tar.TypeCont, 1, errBytes}, "many links": {tar.TypeSymlink, 3, errMany},
	} {
		size := 1 << 10
		if errors.Is(tc.want, errBytes) {
			size = 1 << 20
		}
		err := unpack(t.TempDir(), archiveOf(t, tc.kind, tc.entries, size), limits{entries: 2, bytes: 64 << 10})
		if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// archiveOf has entries of a kind, each of a size where the kind has one.
func archiveOf(t *testing.T, kind byte, entries, size int) io.Reader {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	for i := range entries {
		h := &tar.Header{Typeflag: kind, Name: fmt.Sprintf("file-%d", i), Mode: 0o755, Linkname: "x"}
		if kind != tar.TypeSymlink {
			h.Size, h.Linkname = int64(size), ""
		}
		if err := files.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return &archive
}

func TestDefaultDir(t *testing.T) {
	if _, err := DefaultDir(func(string) string { return "" }); err == nil {
		t.Error("there is a default without a home")
	}
	dir, err := DefaultDir(func(name string) string { return filepath.FromSlash("/" + name) })
	if err != nil || !filepath.IsAbs(dir) || !bytes.Contains([]byte(dir), []byte("envtest")) {
		t.Errorf("%q, %v", dir, err)
	}
}

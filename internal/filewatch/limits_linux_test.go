package filewatch_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/filewatch"
	"github.com/slipway-dev/slipway/internal/report"
)

// inNamespace is set for a test that was started again in a user namespace of its own.
const inNamespace = "SLIPWAY_TEST_NAMESPACE"

// inUserNamespace runs a test again, as the user of that number in a new namespace, and reports whether it runs there.
// Limits of such a namespace are its own, and there is a user in it who may not read everything.
func inUserNamespace(t *testing.T, user int) bool {
	t.Helper()
	if os.Getenv(inNamespace) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "--- SKIP") || err != nil && len(out) == 0 {
		t.Skipf("no namespaces of one's own here: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// limit sets a limit of the namespace.
func limit(t *testing.T, name, value string) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/user/"+name, []byte(value), 0o644); err != nil {
		t.Skip("the limit cannot be set: ", err)
	}
}

// TestTooFewWatches: when there are no watches left, at the beginning or later, all files are polled.
func TestTooFewWatches(t *testing.T) {
	if !inUserNamespace(t, 0) {
		return
	}
	for name, watches := range map[string]string{"beginning": "2", "later": "3"} {
		t.Run(name, func(t *testing.T) {
			limit(t, "max_inotify_watches", watches) // the project has three folders
			w := newWatching(t, false).begin()
			w.save("internal/new/deep.go", "package deep")
			w.save("api/v1/more.go", "package more")
			w.expect("internal/new/deep.go", "api/v1/more.go")
			want := "looking for changed files every 20ms: the limit of watches is reached (on Linux, fs.inotify.max_user_watches)"
			if got := w.texts(); !slices.Equal(got, []string{want}) {
				t.Errorf("notes are %q", got)
			}
		})
	}
}

// TestTooFewWatchers: when there is no watcher to be had, files are polled.
func TestTooFewWatchers(t *testing.T) {
	if !inUserNamespace(t, 0) {
		return
	}
	limit(t, "max_inotify_instances", "0")
	w := newWatching(t, false).begin()
	w.save("api/v1/more.go", "package more")
	w.expect("api/v1/more.go")
	if got := strings.Join(w.texts(), "\n"); !strings.Contains(got, "fs.inotify.max_user_instances") {
		t.Errorf("notes are %s", got)
	}
}

// TestWithoutPermission: a folder that cannot be read is passed over with a warning until it can; the files that were
// known of it have not gone. It is an error only if it was asked for.
func TestWithoutPermission(t *testing.T) {
	if !inUserNamespace(t, 1000) {
		return
	}
	for name, poll := range map[string]bool{"events": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			w := newWatching(t, poll)
			closed := w.path("closed")
			w.save("closed/b.go", "package b")
			w.must(os.Chmod(closed, 0))
			t.Cleanup(func() { w.must(os.Chmod(closed, 0o700)) })
			w.begin()
			w.save("a.go", "package a")
			w.expect("a.go")
			if got := strings.Join(w.texts(), "\n"); strings.Count(got, closed+" is not watched") != 1 {
				t.Errorf("warnings are %s", got)
			}
			w.must(os.Chmod(closed, 0o700))
			w.expect("closed/b.go")
			w.save("closed/b.go", "package c")
			w.expect("closed/b.go")
			w.must(os.Chmod(closed, 0))
			w.expect()

			options := w.options
			options.Folders = func() []filewatch.Folder { return []filewatch.Folder{{Path: closed}} }
			err := filewatch.Watch(t.Context(), options, func() { t.Error("it is ready") }, nil)
			if e, ok := err.(*report.Error); !ok || e.Where != closed {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestOverflow: when the kernel had to drop events, all files are compared, and folders are watched as they are then.
func TestOverflow(t *testing.T) {
	var queue int
	if text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err != nil {
		t.Skip(err)
	} else if _, err := fmt.Sscan(string(text), &queue); err != nil || queue > 1<<17 {
		t.Skipf("the queue holds %d events, %v", queue, err)
	}
	w := newWatching(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	fill := func() { // while nothing takes the events
		for i := range queue + 5000 { // more than the queue and the buffer of its reader hold; equal events become one
			w.must(os.Chmod(w.path([]string{"a.go", "api"}[i%2]), 0o700))
		}
		w.remove("api")
		w.save("api/v1/more.go", "package more")
	}
	round := 0
	err := filewatch.Watch(ctx, w.options, fill, func(files []string) {
		switch round++; round {
		case 1:
			if want := []string{w.path("api/types.go"), w.path("api/v1/more.go")}; !slices.Equal(files, want) {
				t.Errorf("reported are %q, want %q", files, want)
			}
			w.save("api/v1/more.go", "package again")
		case 2:
			if want := []string{w.path("api/v1/more.go")}; !slices.Equal(files, want) {
				t.Errorf("reported are %q, want %q", files, want)
			}
			cancel()
		}
	})
	w.must(err)
}

// TestNothingIsLeft: neither goroutines nor descriptors are left when the context ends.
func TestNothingIsLeft(t *testing.T) {
	for name, poll := range map[string]bool{"events": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			w := newWatching(t, poll)
			round := func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				w.must(filewatch.Watch(ctx, w.options, func() { w.save("a.go", "package "+time.Now().String()) }, func([]string) { cancel() }))
			}
			round() // the runtime opens what it keeps
			goroutines, descriptors := runtime.NumGoroutine(), opened(t)
			for range 50 {
				round()
			}
			if got := opened(t); got > descriptors {
				t.Errorf("%d descriptors, %d before", got, descriptors)
			}
			for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; runtime.Gosched() {
				if time.Now().After(deadline) { // those that have ended may still be counted for a moment
					t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
				}
			}
		})
	}
}

// opened counts this process's descriptors.
func opened(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// BenchmarkPoll compares a poll of 2,000 files with a walk that asks for the size and time of each, which is the least
// that finds changes: x/walk. A poll in 500 ms must take less than 5 ms, a hundredth of a core: ms/poll.
func BenchmarkPoll(b *testing.B) {
	root := b.TempDir()
	for i := range 2000 {
		path := filepath.Join(root, fmt.Sprintf("pkg%d", i/20), fmt.Sprintf("file%d.go", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("package p"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	filewatch.ComparePoll(b, root)
}

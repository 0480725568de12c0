package generation

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// withoutWatchers is set for this test when it was started again in a user namespace of its own, which has a limit of
// its own.
const withoutWatchers = "SLIPWAY_TEST_WITHOUT_WATCHERS"

// TestWatchSaysThatItPolls: the user learns why a change is noticed late, and the command works all the same.
func TestWatchSaysThatItPolls(t *testing.T) {
	if os.Getenv(withoutWatchers) != "" {
		if err := os.WriteFile("/proc/sys/user/max_inotify_instances", []byte("0"), 0o644); err != nil {
			t.Skip("the limit cannot be set: ", err)
		}
		watchOnce(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWatchSaysThatItPolls$", "-test.v")
	cmd.Env = append(os.Environ(), withoutWatchers+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "--- SKIP") || err != nil && len(out) == 0 {
		t.Skipf("no namespaces of one's own here: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// watchOnce watches a project until it is ready, and looks at the notes.
func watchOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, _ := generatable(t)
	var notes []string
	s.Handler = report.HandlerFunc(func(event report.Event) {
		if note, ok := event.(report.Note); ok {
			if notes = append(notes, note.Text); strings.HasPrefix(note.Text, "watching ") {
				cancel()
			}
		}
	})
	if err := Watch(ctx, s, Generation{}); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 2 || !strings.HasPrefix(notes[0], "looking for changed files every 500ms: ") {
		t.Errorf("notes are %q", notes)
	}
}

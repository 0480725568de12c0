package fileerror_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
)

// TestHints: each refusal of the file system comes with what to do about it, and that nothing was changed.
func TestHints(t *testing.T) {
	for _, test := range []struct {
		err  error
		hint string
	}{
		{fs.ErrPermission, "you need permission"},
		{syscall.EROFS, "you need permission"},
		{syscall.ENOSPC, "free space"},
		{syscall.EISDIR, "move it away"},
		{syscall.ENOTDIR, "move it away"},
		{fs.ErrExist, "move it away"},
		{syscall.EIO, "correct this"},
	} {
		cause := &fs.PathError{Op: "open", Path: "/project/a/b", Err: test.err}
		for what, err := range map[string]error{"read": fileerror.Unreadable("a/b", cause), "written": fileerror.Unwritable("a/b", cause)} {
			refusal, ok := errors.AsType[*report.Error](err)
			if !ok || refusal.Where != "a/b" || !strings.Contains(refusal.What, what) || !errors.Is(err, test.err) ||
				!strings.Contains(refusal.Hint, test.hint) || !strings.Contains(refusal.Hint, "nothing was changed") {
				t.Errorf("%v gives %+v, want the hint %q", test.err, refusal, test.hint)
			}
		}
	}
}

// TestOutside names the link that leads out of the project.
func TestOutside(t *testing.T) {
	refusal, ok := errors.AsType[*report.Error](fileerror.Unwritable("a/b", &safefs.OutsideError{Link: "a"}))
	if !ok || refusal.Where != "a/b" || !strings.Contains(refusal.Hint, "remove a,") {
		t.Errorf("got %+v", refusal)
	}
}

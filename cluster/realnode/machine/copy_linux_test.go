package machine

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// pieces are what was written at once.
type pieces []string

func (p *pieces) Write(b []byte) (int, error) {
	*p = append(*p, string(b))
	return len(b), nil
}

// TestCopyLines: lines come whole, however they were written; one that does not end comes in parts.
func TestCopyLines(t *testing.T) {
	long := strings.Repeat("x", longestLine)
	for name, tt := range map[string]struct {
		written []string
		want    pieces
	}{
		"whole":         {[]string{"a\n", "b\n"}, pieces{"a\n", "b\n"}},
		"in parts":      {[]string{"a", "b\nc", "\n"}, pieces{"ab\n", "c\n"}},
		"without end":   {[]string{"a\nb"}, pieces{"a\n", "b"}},
		"never an end":  {[]string{long, "y\n"}, pieces{long, "y\n"}},
		"nothing":       {nil, nil},
		"several lines": {[]string{"a\nb\nc\n"}, pieces{"a\n", "b\n", "c\n"}},
	} {
		from, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for _, text := range tt.written {
				_, _ = to.WriteString(text)
			}
			_ = to.Close()
		}()
		var got pieces
		copyLines(&got, from)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %.80q, want %.80q", name, got, tt.want)
		}
	}
}

// TestExplain: what the system forbids is told apart from other failures, and keeps its cause.
func TestExplain(t *testing.T) {
	for _, cause := range []error{fs.ErrPermission, syscall.EPERM, syscall.ENOSPC, syscall.EINVAL} {
		err := explain(cause)
		if !errors.Is(err, ErrForbidden) || !errors.Is(err, cause) || !strings.Contains(err.Error(), "start the nodes' machine") {
			t.Errorf("%v: %v", cause, err)
		}
	}
	if err := explain(fs.ErrNotExist); errors.Is(err, ErrForbidden) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another failure: %v", err)
	}
}

package isolated

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOrphaned: those are meant that have ended, were given to this process, and are of another session.
func TestOrphaned(t *testing.T) {
	for stat, want := range map[string]bool{
		"12 (sh) Z 1 12 12 0 -1 4227084":              true,
		"12 (a name) Z 7 (b)) Z 1 12 12 0 -1 4227084": true,  // a name may look like what follows
		"12 (sh) Z 1 12 1 0 -1 4227084":               false, // in this process's session
		"12 (sh) S 1 12 12 0 -1 4227084":              false, // it runs
		"12 (sh) Z 5 12 12 0 -1 4227084":              false, // another one's
		"12 (sh":                                      false,
		"":                                            false,
		"12 (sh) Z 1":                                 false,
	} {
		if s := parseState([]byte(stat)); s.orphaned(1) != want {
			t.Errorf("%q: %+v, want %t", stat, s, want)
		}
	}
}

// TestStateOfThis: what the kernel says of a process is understood. Its session is 0 where the session's leader is of
// another namespace.
func TestStateOfThis(t *testing.T) {
	session, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	s := parseState(text)
	if len(s.letter) != 1 || s.letter == "Z" {
		t.Errorf("the process that reads it is in state %q", s.letter)
	}
	s.letter = ""
	if want := (state{pid: os.Getpid(), parent: os.Getppid(), session: session}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

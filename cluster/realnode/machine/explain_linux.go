package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// switches forbid user namespaces to ordinary users, on systems that have them.
var switches = []struct{ file, forbids, fix string }{
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=10000"},
}

// killed stands for the status of a process that a signal has ended.
const killed = -1

// notStarted says why a machine has ended before it was ready. Its log says more.
func notStarted(s *os.ProcessState) error {
	err := fmt.Errorf("it ended at once: %s", s)
	switch s.ExitCode() {
	case killed:
		err = fmt.Errorf("%w: %w", ErrEnded, err)
	case wire.StatusTooOld:
		return &Forbidden{Err: tooOld()}
	case wire.StatusForbidden:
		err = fmt.Errorf("%w: %w", err, syscall.EPERM)
	}
	return explain(err)
}

// tooOld says which Linux there is, and which is needed. No setting changes that.
func tooOld() error {
	var this unix.Utsname
	if err := unix.Uname(&this); err != nil {
		return err
	}
	return fmt.Errorf("isolated nodes need the system call close_range of Linux 5.11, which this Linux (%s) lacks or forbids", unix.ByteSliceToString(this.Release[:]))
}

// explain adds why a machine could not be started, and what lets it.
func explain(err error) error {
	err = fmt.Errorf("start the nodes' machine: %w", err)
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	for _, s := range switches {
		value, readErr := os.ReadFile(s.file)
		if readErr == nil && strings.TrimSpace(string(value)) == s.forbids {
			return &Forbidden{s.fix, err}
		}
	}
	return &Forbidden{Err: fmt.Errorf("%w (containers often forbid them)", err)}
}

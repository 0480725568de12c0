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

// switches are the sysctls by which some systems forbid user namespaces to ordinary users.
var switches = []struct{ file, forbids, fix string }{
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=10000"},
}

// killed is the ExitCode of a process that a signal ended.
const killed = -1

// notStarted returns the error of a machine that ended before it was ready. The machine's log has the details.
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

// tooOld returns the error of a kernel that is too old. No setting changes that.
func tooOld() error {
	var this unix.Utsname
	if err := unix.Uname(&this); err != nil {
		return err
	}
	return fmt.Errorf("isolated nodes need the system call close_range of Linux 5.11, which this Linux (%s) lacks or forbids", unix.ByteSliceToString(this.Release[:]))
}

// explain adds the reason why the system forbids a machine and, if known, the command that allows it.
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

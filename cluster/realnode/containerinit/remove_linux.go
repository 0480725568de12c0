package containerinit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/removetree"
	"github.com/slipway-dev/slipway/cluster/realnode/subid"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// AllRights are those that a process keeps over an exec as long as it has no id.
func AllRights() (all []uintptr) {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		all = append(all, c)
	}
	return all
}

// awaitIDs waits until this process's user namespace has ids. Without them there is nothing to go on with.
func awaitIDs() error {
	given := os.NewFile(wire.FileGiven, "ids")
	defer given.Close()
	if _, err := given.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("wait for ids: %w", err)
	}
	return nil
}

// becomeRoot takes on the identity of the user namespace's root.
func becomeRoot() error {
	if err := errors.Join(unix.Setgroups(nil), unix.Setresgid(0, 0, 0), unix.Setresuid(0, 0, 0)); err != nil {
		return fmt.Errorf("become root of the user namespace: %w", err)
	}
	return nil
}

// remove removes a folder of this user's, with what in it he may not enter and what belongs to ids that were set aside
// for him: in a user namespace that has those, or him alone if there are none.
func remove() error {
	if len(os.Args) < 3 {
		return errors.New("a folder to remove is missing")
	}
	ids, err := subid.Find()
	if err == nil {
		err = removeWith(ids)
	}
	if !errors.Is(err, subid.ErrNone) {
		return err
	}
	cmd := removal()
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	return cmd.Run()
}

// removal is this program in a user namespace of its own.
func removal() *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", partRemoving, os.Args[2])
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, Pdeathsig: unix.SIGKILL, AmbientCaps: AllRights()}
	return cmd
}

// removeWith removes it where these ids are.
func removeWith(ids subid.IDs) error {
	cmd := removal()
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer from.Close()
	cmd.Args = append(cmd.Args, "wait")
	cmd.ExtraFiles = []*os.File{nil, from}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, to.Close())
	}
	if err = ids.Give(context.Background(), cmd.Process.Pid); err == nil {
		_, err = io.WriteString(to, ".")
	}
	return errors.Join(err, to.Close(), cmd.Wait())
}

// removing is in that user namespace.
func removing() error {
	if len(os.Args) > 3 {
		if err := awaitIDs(); err != nil {
			return err
		}
		if err := becomeRoot(); err != nil {
			return err
		}
	}
	return removetree.All(os.Args[2])
}

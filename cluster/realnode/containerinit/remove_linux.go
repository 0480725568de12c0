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

// AllRights returns all capabilities, as ambient ones: a process without a mapped id keeps only these over an exec.
func AllRights() (all []uintptr) {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		all = append(all, c)
	}
	return all
}

// awaitIDs waits until the parent has mapped ids into this process's user namespace.
func awaitIDs() error {
	given := os.NewFile(wire.FileGiven, "ids")
	defer given.Close()
	if _, err := given.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("wait for ids: %w", err)
	}
	return nil
}

// becomeRoot takes on the ids of the user namespace's root.
func becomeRoot() error {
	if err := errors.Join(unix.Setgroups(nil), unix.Setresgid(0, 0, 0), unix.Setresuid(0, 0, 0)); err != nil {
		return fmt.Errorf("become root of the user namespace: %w", err)
	}
	return nil
}

// remove removes a folder of an ordinary user, including folders that the user may not enter and files of the user's
// subordinate ids. It does so in a user namespace with those ids or, without any, with the user's one id.
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

// removal returns a command for the part removing, in its own user namespace.
func removal() *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", partRemoving, os.Args[2])
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, Pdeathsig: unix.SIGKILL, AmbientCaps: AllRights()}
	return cmd
}

// removeWith removes the folder in a user namespace with these ids.
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

// removing removes the folder, in that user namespace.
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

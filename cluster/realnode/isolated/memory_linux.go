package isolated

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
)

var _ cri.Sharer = (*Starter)(nil)

// ShareMemory mounts a tmpfs of 64 MiB at dir, as other runtimes do for a pod's /dev/shm.
func (i *Starter) ShareMemory(dir string) error {
	if err := unix.Mount("shm", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=1777,size=65536k"); err != nil {
		return fmt.Errorf("mount the pod's shared memory: %w", err)
	}
	return nil
}

// ReleaseMemory unmounts it, even if it is in use.
func (i *Starter) ReleaseMemory(dir string) error {
	if err := unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("unmount the pod's shared memory: %w", err)
	}
	return nil
}

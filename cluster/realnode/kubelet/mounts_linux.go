package kubelet

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
	"k8s.io/mount-utils"
)

// mounts mounts with system calls. Upstream runs the host's programs mount and umount, which a node's root does not
// have.
type mounts struct{ mount.Interface }

func newMounts() mounts { return mounts{&mount.Mounter{}} }

var mountFlags = map[string]uintptr{
	"bind": unix.MS_BIND, "rbind": unix.MS_BIND | unix.MS_REC, "remount": unix.MS_REMOUNT, "ro": unix.MS_RDONLY, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV,
	"noexec": unix.MS_NOEXEC, "noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME, "relatime": unix.MS_RELATIME, "sync": unix.MS_SYNCHRONOUS,
	"rw": 0, "defaults": 0,
}

// flagsOf splits mount options into flags of mount(2) and the file system's own options.
func flagsOf(options []string) (flags uintptr, data string) {
	var rest []string
	for _, o := range options {
		if f, ok := mountFlags[o]; ok {
			flags |= f
		} else {
			rest = append(rest, o)
		}
	}
	return flags, strings.Join(rest, ",")
}

// Mount follows upstream's Mounter: a bind mount with further options is remounted with them, since the kernel ignores
// them at first.
func (m mounts) Mount(source, target, kind string, options []string) error {
	bind, first, again := mount.MakeBindOpts(options)
	if !bind {
		first, again = options, nil
	}
	if err := mountOnce(source, target, kind, first); err != nil {
		return err
	}
	for _, o := range again {
		if o != "bind" && o != "remount" {
			return mountOnce(source, target, kind, again)
		}
	}
	return nil
}

func mountOnce(source, target, kind string, options []string) error {
	flags, data := flagsOf(options)
	if flags&unix.MS_REMOUNT != 0 {
		var s unix.Statfs_t
		if err := unix.Statfs(target, &s); err != nil {
			return fmt.Errorf("mount %s: %w", target, err)
		}
		flags |= uintptr(s.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME) // an unprivileged remount must keep locked flags
	}
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		return fmt.Errorf("mount %s on %s (%s, %s): %w", source, target, kind, strings.Join(options, ","), err)
	}
	return nil
}

// MountSensitive is Mount: this implementation logs no options.
func (m mounts) MountSensitive(source, target, kind string, options, sensitive []string) error {
	return m.Mount(source, target, kind, append(options[:len(options):len(options)], sensitive...))
}

// MountSensitiveWithoutSystemd is MountSensitive.
func (m mounts) MountSensitiveWithoutSystemd(source, target, kind string, options, sensitive []string) error {
	return m.MountSensitive(source, target, kind, options, sensitive)
}

// MountSensitiveWithoutSystemdWithMountFlags is MountSensitive. It ignores the flags, which are for the program mount.
func (m mounts) MountSensitiveWithoutSystemdWithMountFlags(source, target, kind string, options, sensitive, _ []string) error {
	return m.MountSensitive(source, target, kind, options, sensitive)
}

// Unmount removes the topmost mount on target. It does not follow symbolic links.
func (m mounts) Unmount(target string) error {
	if err := unix.Unmount(target, unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("unmount %s: %w", target, err)
	}
	return nil
}

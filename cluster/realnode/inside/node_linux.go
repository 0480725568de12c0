package inside

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// varFolder is where a node's own files appear: what it finds there is the node's, and nothing of the host's.
const varFolder = "/var"

// node prepares a node's namespaces and becomes slipway-node, which is the file before FileConfig.
func node() error {
	if len(os.Args) < 3 {
		return fmt.Errorf("a node without a name")
	}
	name, single := os.Args[2], len(os.Args) > 3
	if err := handOnBelow(FileHost + 1); err != nil {
		return err
	}
	if err := ownMounts(filepath.Join(varFolder, name)); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set the node's name: %w", err)
	}
	if single {
		if err := ignoreOwners(); err != nil {
			return err
		}
	}
	program := fmt.Sprintf("/proc/self/fd/%d", firstFile)
	args := []string{"slipway-node", "run"}
	return fmt.Errorf("become slipway-node: %w", unix.Exec(program, args, os.Environ()))
}

// ownMounts makes files, processes and the network's settings those of the node.
func ownMounts(state string) error {
	const plain = unix.MS_NOSUID | unix.MS_NODEV
	for _, m := range []struct {
		what, source, target, kind string
		flags                      uintptr
	}{
		{"keep mounts to the node", "", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{"mount /proc", "proc", "/proc", "proc", plain | unix.MS_NOEXEC},
		{"mount /sys", "sysfs", "/sys", "sysfs", plain | unix.MS_NOEXEC | unix.MS_RDONLY},
		{"show the node's files", state, varFolder, "", unix.MS_BIND},
		{"mount /tmp", "tmpfs", "/tmp", "tmpfs", plain},
	} {
		if err := unix.Mount(m.source, m.target, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("%s: %w", m.what, err)
		}
	}
	return nil
}

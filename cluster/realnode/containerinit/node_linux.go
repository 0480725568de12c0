package containerinit

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

const (
	// varFolder is the mount point of all nodes' state in the machine, and of a node's own in the node.
	varFolder = "/var"
	// newRoot is the mount point of a node's root while it is made.
	newRoot = "/tmp"
)

// node prepares a node's namespaces and becomes slipway-node, which is the inherited file firstFile.
func node() error {
	if len(os.Args) < 3 {
		return fmt.Errorf("a node without a name")
	}
	name, single := os.Args[2], len(os.Args) > 3
	if err := closeOnExecFrom(wire.FileHost + 1); err != nil {
		return err
	}
	if err := makeRoot(filepath.Join(varFolder, name)); err != nil {
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

// EnterRoot changes a node's root to the one that the part node made. slipway-node calls it at its start. An earlier
// call would hide the host's libraries from the dynamic linker.
func EnterRoot() error { return pivot(newRoot) }

// makeRoot makes a root with the node's own files, processes and network settings, and nothing of the host. So a link
// in an image or a volume never leads to the host.
func makeRoot(state string) error {
	const plain = unix.MS_NOSUID | unix.MS_NODEV
	for _, m := range []mount{
		{"keep mounts to the node", "", "/", "", unix.MS_REC | unix.MS_PRIVATE, ""},
		{"make the node's root", "tmpfs", newRoot, "tmpfs", plain, "mode=755"},
	} {
		if err := m.make(); err != nil {
			return err
		}
	}
	if err := furnishNode(); err != nil {
		return fmt.Errorf("make the node's root: %w", err)
	}
	for _, m := range []mount{
		{"mount /proc", "proc", newRoot + "/proc", "proc", plain | unix.MS_NOEXEC, ""},
		{"mount /sys", "sysfs", newRoot + "/sys", "sysfs", plain | unix.MS_NOEXEC | unix.MS_RDONLY, ""},
		{"show the node's files", state, newRoot + varFolder, "", unix.MS_BIND, ""},
		{"show the cluster's volumes", filepath.Join(varFolder, wire.VolumesFolder), newRoot + wire.PathVolumes, "", unix.MS_BIND, ""},
	} {
		if err := m.make(); err != nil {
			return err
		}
	}
	return nil
}

// nodeFiles are files that programs expect on any system.
var nodeFiles = map[string]string{
	"/etc/hosts":  "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n",
	"/etc/passwd": "root:x:0:0:root:/root:/sbin/nologin\n",
	"/etc/group":  "root:x:0:\n",
}

// furnishNode makes the folders and files of the node's root, with copies of the few host files that a node needs.
func furnishNode() error {
	for _, folder := range []string{"/dev", filepath.Dir(caFile), "/proc", "/root", "/sys", "/tmp", varFolder, wire.PathVolumes} {
		if err := os.MkdirAll(newRoot+folder, folderMode); err != nil {
			return err
		}
	}
	for name, text := range nodeFiles {
		if err := os.WriteFile(newRoot+name, []byte(text), fileMode); err != nil {
			return err
		}
	}
	if err := showDevices(newRoot + "/dev"); err != nil {
		return err
	}
	return copyAuthorities(newRoot + caFile)
}

// devices are the devices in every container and node.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// showDevices bind-mounts the devices into a folder.
func showDevices(dev string) error {
	for _, name := range devices {
		at := filepath.Join(dev, name)
		if err := os.WriteFile(at, nil, fileMode); err != nil {
			return fmt.Errorf("make /dev/%s: %w", name, err)
		}
		if err := (mount{"show /dev/" + name, "/dev/" + name, at, "", unix.MS_BIND, ""}).make(); err != nil {
			return err
		}
	}
	return nil
}

// caFile is the file in which programs look first for trusted CAs. A node needs them for registries.
const caFile = "/etc/ssl/certs/ca-certificates.crt"

// copyAuthorities copies the host's CA certificates from the paths of common distributions. A host may have none.
func copyAuthorities(to string) error {
	for _, file := range []string{
		caFile, "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
	} {
		if text, err := os.ReadFile(file); err == nil {
			return os.WriteFile(to, text, fileMode)
		}
	}
	return nil
}

// pivot makes a folder the root and detaches the old one.
func pivot(root string) error {
	for _, step := range []func() error{
		func() error { return unix.Chdir(root) },
		func() error { return unix.PivotRoot(".", ".") },
		func() error { return unix.Unmount(".", unix.MNT_DETACH) },
		func() error { return unix.Chdir("/") },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("change the root: %w", err)
		}
	}
	return nil
}

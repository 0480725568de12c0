package containerinit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// processSpec is a [wire.Process] with the steps that become it.
type processSpec wire.Process

// become turns this thread, and with it the process, into the described one.
func (p *processSpec) become() error {
	if p.Dir == "" {
		p.Dir = "/"
	}
	if err := p.takeRights(); err != nil {
		return err
	}
	// After the change of identity, because that decides whether the folder can be entered. The change has also cleared
	// Pdeathsig.
	if err := unix.Chdir(p.Dir); err != nil {
		return fmt.Errorf("enter the working folder %s: %w", p.Dir, err)
	}
	if _, err := unix.Getwd(); err != nil { // a folder outside the root has no path here
		return fmt.Errorf("the working folder %s is not in the container: %w", p.Dir, err)
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tie the process to its container: %w", err)
	}
	if err := limitFiles(); err != nil {
		return err
	}
	program, err := p.find()
	if err != nil {
		return err
	}
	resetSignals()
	return fmt.Errorf("run %s: %w", program, unix.Exec(program, p.Args, p.Env))
}

// resetSignals restores the default action of signals that the Go runtime catches. exec would do so later, after it has
// closed the files by which others see the start. So a caught signal in /proc is one that the container's program
// catches.
func resetSignals() {
	var byDefault [4]uint64 // a zero struct sigaction
	const signals, size = 64, 8
	for s := uintptr(1); s <= signals; s++ {
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&byDefault)), 0, size, 0, 0) // fails for SIGKILL and SIGSTOP, which keep their action
	}
}

// openFiles bounds the open files of a container's process, if the machine allows that many. It is the kubelet's own
// default (maxOpenFiles).
const openFiles = 1_000_000

// limitFiles sets the limit of open files. It must be explicit: the Go runtime raises the soft limit, and restores the
// original one at exec, for programs that use select.
func limitFiles() error {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	if err == nil {
		limit.Max = min(limit.Max, openFiles)
		limit.Cur = limit.Max
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
	if err != nil {
		return fmt.Errorf("limit open files: %w", err)
	}
	return nil
}

// takeRights sets ids and capabilities. It installs the filter after the ids, and before it drops the capability to
// install one.
func (p *processSpec) takeRights() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if p.Capabilities&(1<<c) == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // fails for a capability that the kernel lacks
		}
	}
	if p.IDs {
		if err := p.takeIdentity(); err != nil {
			return err
		}
	}
	if len(p.Filter) > 0 {
		if err := install(p.Filter); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient rights: %w", err)
	}
	kept := p.Capabilities
	if p.UID != 0 {
		kept = 0
	}
	if err := keepOnly(kept); err != nil {
		return err
	}
	if !p.NoNewRights {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new rights: %w", err)
	}
	return nil
}

// takeIdentity changes the ids of this thread only, because exec ends the others. It keeps the capabilities for the
// filter.
func (p *processSpec) takeIdentity() error {
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep rights over a change of identity: %w", err)
	}
	groups := make([]uint32, len(p.Groups)+1) // never empty, so that it has an address
	for i, g := range p.Groups {
		groups[i] = uint32(g)
	}
	uid, gid := uintptr(p.UID), uintptr(p.GID)
	for _, call := range [][4]uintptr{
		{unix.SYS_SETGROUPS, uintptr(len(p.Groups)), uintptr(unsafe.Pointer(&groups[0]))},
		{unix.SYS_SETRESGID, gid, gid, gid},
		{unix.SYS_SETRESUID, uid, uid, uid},
	} {
		if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
			return fmt.Errorf("take on user %d, group %d and groups %d: %w", p.UID, p.GID, p.Groups, errno)
		}
	}
	return restoreEffective()
}

// restoreEffective restores effective capabilities, which a change of ids clears, from the permitted ones.
func restoreEffective() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("read rights: %w", err)
	}
	for i := range sets {
		sets[i].Effective = sets[i].Permitted
	}
	return setRights(&sets)
}

// keepOnly drops all other capabilities.
func keepOnly(kept uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("read rights: %w", err)
	}
	for i := range sets {
		sets[i].Permitted &= uint32(kept >> (32 * i))
		sets[i].Effective, sets[i].Inheritable = sets[i].Permitted, 0
	}
	return setRights(&sets)
}

func setRights(sets *[2]unix.CapUserData) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("set rights: %w", err)
	}
	return nil
}

// find finds the program in PATH, as a shell does.
func (p *processSpec) find() (string, error) {
	name := p.Args[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	var path string
	for _, e := range p.Env {
		if value, ok := strings.CutPrefix(e, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

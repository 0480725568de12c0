package containerinit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// firstFile is the first inherited file after the standard three.
const firstFile = 3

// closeOnExecFrom closes the files from number on at the next exec. Programs started later inherit only those below,
// and those that are passed on explicitly. This process may have inherited unknown ones, such as a shell's.
func closeOnExecFrom(number uint) error {
	err := unix.CloseRange(number, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) { // the error of a kernel without the call or the flag
		return errTooOld
	}
	if err != nil {
		return fmt.Errorf("keep files to this process: %w", err)
	}
	return nil
}

// errTooOld means that the kernel is older than 5.11, the first that can also mount overlays in user namespaces.
var errTooOld = errors.New("this Linux is older than 5.11")

// usualMask is the umask of most systems.
const usualMask = 0o022

// Main runs the part that args name. It returns the exit status, unless the process becomes another program.
func Main(args []string) int {
	unix.Umask(usualMask)  // the cluster's process has a stricter one, but containers must read these files
	runtime.LockOSThread() // rights, filters and Pdeathsig belong to a thread
	parts := map[string]func() error{
		wire.PartMachine: machine, wire.PartNode: node, wire.PartSpawn: spawn, wire.PartContainer: container, wire.PartEnter: enter, partEntered: entered,
		wire.PartRemove: remove, partRemoving: removing, wire.PartSweep: sweep,
	}
	if len(args) < 2 || parts[args[1]] == nil {
		fmt.Fprintln(os.Stderr, "slipway-container is part of slipway-node and does not run by itself")
		return statusUsage
	}
	if err := parts[args[1]](); err != nil {
		if e, ok := errors.AsType[ended](err); ok {
			return int(e)
		}
		return fail(args[1], err)
	}
	return 0
}

const (
	statusUsage = 2
	// Statuses of a process that could not start, as in shells and runtimes.
	statusNotRun   = 126
	statusNotFound = 127
	statusFailed   = 128
)

// fail reports an error to the process that waits for the part, and returns the exit status.
func fail(part string, err error) int {
	switch {
	case part == wire.PartMachine && errors.Is(err, errTooOld):
		return wire.StatusTooOld
	case part == wire.PartMachine && errors.Is(err, fs.ErrPermission):
		fmt.Fprintf(os.Stderr, "slipway: %v\n", err)
		return wire.StatusForbidden
	case part == wire.PartContainer:
		_, _ = fmt.Fprint(os.NewFile(wire.FileStatus, "status"), err) // fails only if nothing waits
		return statusFailed
	case part == partEntered && errors.Is(err, fs.ErrNotExist):
		fmt.Fprintln(os.Stderr, err)
		return statusNotFound
	case part == partEntered:
		fmt.Fprintln(os.Stderr, err)
		return statusNotRun
	}
	fmt.Fprintf(os.Stderr, "slipway: %v\n", err)
	return statusFailed
}

// ended is the exit status of the process that this one waited for.
type ended int

func (e ended) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// describe decodes the part's description from an inherited file.
func describe(file uintptr, to any) error {
	f := os.NewFile(file, "description")
	defer f.Close()
	if err := json.NewDecoder(f).Decode(to); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	return nil
}

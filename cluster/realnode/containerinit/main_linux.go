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

// firstFile is the first one that is inherited besides the usual three.
const firstFile = 3

// handOnBelow hands on the files below a number to what this process becomes or starts, and no others but those that it
// names then. It may have been given some that nobody here knows of: those of a shell, say, that has opened them for
// itself.
func handOnBelow(number uint) error {
	err := unix.CloseRange(number, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) { // which is what a kernel says that does not know the call, or the flag
		return errTooOld
	}
	if err != nil {
		return fmt.Errorf("keep files to this process: %w", err)
	}
	return nil
}

// errTooOld says that the kernel lacks something. Linux 5.11 has it; it is the first, too, that lets user namespaces
// mount overlays.
var errTooOld = errors.New("this Linux is older than 5.11")

// usualMask is the umask of most systems.
const usualMask = 0o022

// Main plays the part that args name and returns the exit status, if it has not become another program.
func Main(args []string) int {
	unix.Umask(usualMask)  // the cluster's process keeps its files to itself, but these are for others
	runtime.LockOSThread() // rights, filters and the signal at the parent's death belong to a thread
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
	// Those of a process that could not be begun, as shells and runtimes have them.
	statusNotRun   = 126
	statusNotFound = 127
	statusFailed   = 128
)

// fail tells of a failure whoever waits for the part to begin.
func fail(part string, err error) int {
	switch {
	case part == wire.PartMachine && errors.Is(err, errTooOld):
		return wire.StatusTooOld
	case part == wire.PartMachine && errors.Is(err, fs.ErrPermission):
		fmt.Fprintf(os.Stderr, "slipway: %v\n", err)
		return wire.StatusForbidden
	case part == wire.PartContainer:
		_, _ = fmt.Fprint(os.NewFile(wire.FileStatus, "status"), err) // if nobody waits, nobody is to be told
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

// ended is the exit status of the process that was waited for.
type ended int

func (e ended) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// describe reads the description of a part.
func describe(file uintptr, to any) error {
	f := os.NewFile(file, "description")
	defer f.Close()
	if err := json.NewDecoder(f).Decode(to); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	return nil
}

package seccomp

import (
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

const architecture = unix.AUDIT_ARCH_AARCH64

// machineCalls returns the forbidden calls that only this architecture has.
func machineCalls() []uintptr { return []uintptr{unix.SYS_KEXEC_FILE_LOAD} }

func otherTables() []wire.Instruction { return nil }

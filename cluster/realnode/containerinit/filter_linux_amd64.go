package containerinit

import "golang.org/x/sys/unix"

// ownerCalls are those that change owners and that not every machine has.
func ownerCalls() []uintptr { return []uintptr{unix.SYS_CHOWN, unix.SYS_LCHOWN} }

package containerinit

import "golang.org/x/sys/unix"

// ownerCalls returns the calls that change owners and exist on some architectures only.
func ownerCalls() []uintptr { return []uintptr{unix.SYS_CHOWN, unix.SYS_LCHOWN} }

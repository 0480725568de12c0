//go:build linux && !amd64

package containerinit

// ownerCalls are those that change owners and that not every machine has.
func ownerCalls() []uintptr { return nil }

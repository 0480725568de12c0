//go:build linux && !amd64

package containerinit

// ownerCalls returns the calls that change owners and exist on some architectures only.
func ownerCalls() []uintptr { return nil }

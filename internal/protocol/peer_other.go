//go:build !linux && !darwin

package protocol

// Peer is not known on this system.
func Peer(string) (pid int, ok bool) { return 0, false }

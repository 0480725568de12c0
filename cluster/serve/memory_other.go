//go:build !linux

package serve

// residentMemory is not known on this system without work.
func residentMemory() int64 { return 0 }

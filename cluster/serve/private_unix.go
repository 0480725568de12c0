//go:build unix

package serve

import "syscall"

// keepPrivate makes every file that this process creates readable by its owner only,
// whoever creates it: etcd's and the API server's included.
func keepPrivate() { syscall.Umask(0o077) }

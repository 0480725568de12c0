//go:build unix

package gocommand

import "golang.org/x/sys/unix"

// quota is the error of a user who may have no more of a disk.
const quota = unix.EDQUOT

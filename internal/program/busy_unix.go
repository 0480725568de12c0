//go:build unix

package program

import "syscall"

// busy is the error of writing to a program that is being executed.
const busy = syscall.ETXTBSY

//go:build !linux

package keeper

import "syscall"

// adopt is Linux's alone: elsewhere what has left the process group goes its way.
func adopt() error { return nil }

// tied ties nothing: the process ends because this one ends it.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// sweep finds nothing to do.
func sweep() {}

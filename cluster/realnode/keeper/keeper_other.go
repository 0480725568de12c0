//go:build !linux

package keeper

import "syscall"

// adopt does nothing: only Linux has subreapers, and a process that left the group lives on.
func adopt() error { return nil }

// tied sets nothing: here the keeper ends its process when orders ends.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func sweep() {}

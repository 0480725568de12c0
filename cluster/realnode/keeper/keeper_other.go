//go:build !linux

package keeper

import "syscall"

// becomeSubreaper does nothing: only Linux has subreapers, and a process that left the group lives on.
func becomeSubreaper() error { return nil }

// killWithParent sets nothing: here the keeper ends its process when orders ends.
func killWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func killChildren() {}

package main

import (
	"fmt"
	"syscall"
	"unsafe"
)

// linkdown tries to take the loopback of its network down.
func linkdown([]string) error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	request := struct { // struct ifreq
		name  [syscall.IFNAMSIZ]byte
		flags int16
		_     [22]byte
	}{name: [syscall.IFNAMSIZ]byte{'l', 'o'}}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return fmt.Errorf("take lo down: %w", errno)
	}
	return syscall.Close(socket)
}

package machine

import "syscall"

// apart gives a process a group of its own.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// isOwn holds for every link: temporary files are each user's own.
func isOwn(string) bool { return true }

package gocommand

import "golang.org/x/sys/windows"

// quota is the error of a disk without room.
const quota = windows.ERROR_DISK_FULL

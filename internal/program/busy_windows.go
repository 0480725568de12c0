package program

import "golang.org/x/sys/windows"

// busy is the error of writing to a program that is being executed.
const busy = windows.ERROR_SHARING_VIOLATION

package dev

import "os/exec"

// lead does nothing: there are no process groups.
func lead(*exec.Cmd) {}

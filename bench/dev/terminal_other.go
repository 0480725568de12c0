//go:build !unix

package main

import "os/exec"

// apart does nothing: there are no process groups.
func apart(*exec.Cmd) {}

// interrupt ends the process: others cannot send it Ctrl-C.
func interrupt(cmd *exec.Cmd) error { return cmd.Process.Kill() }

package gocommand

import "os/exec"

// ownGroup does nothing: the go command ends its compilers itself on Windows.
func ownGroup(*exec.Cmd) {}

func interruptGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killGroup(*exec.Cmd) {}

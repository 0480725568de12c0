package processgroup

import "os/exec"

// own does nothing: commands end what they have started themselves on Windows.
func own(*exec.Cmd) {}

// interrupt ends the command.
func interrupt(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// kill does nothing.
func kill(*exec.Cmd) {}

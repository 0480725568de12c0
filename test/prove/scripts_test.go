package prove

import (
	"fmt"
	"os/exec"
	"slices"
	"testing"
)

// TestPython: an operator in Python, which watches, and one that logs an error and waits for the next event.
func TestPython(t *testing.T) {
	steps := []string{
		step("apply", "Queue", "jobs", "topics: [mail, print]"),
		step("patch", "Queue", "jobs", "topics: [print, scan]"),
		step("delete", "Queue", "jobs", ""),
	}
	t.Run("correct", func(t *testing.T) { correct(t, "queue", script(t, "python3", "queue.py"), steps...) })
	t.Run("swallow", func(t *testing.T) {
		r, code := prove(t, "queue", script(t, "python3", "queue.py", "swallow"), steps...)
		mistake{append(refused, "read-failure"), "^ConfigMap default/jobs-", retried}.has(t, r, code)
	})
}

// TestShell: an operator in shell, and one that does not look whether kubectl has failed.
func TestShell(t *testing.T) {
	steps := []string{
		step("apply", "Shop", "corner", "size: 1"),
		step("patch", "Shop", "corner", "size: 2"),
		"patience: 3s\n", // kubectl takes its time to start
	}
	t.Run("correct", func(t *testing.T) { correct(t, "shop", script(t, "bash", "shop.sh", slipway), steps...) })
	t.Run("semicolon", func(t *testing.T) {
		r, code := prove(t, "shop", script(t, "bash", "shop.sh", slipway, "semicolon"), steps...)
		mistake{append(slices.Clone(refused), "read-failure"), "^(ConfigMap|Service|Shop) default/corner", retried}.has(t, r, code)
	})
}

// script is the command that runs a script. Without its interpreter the test is skipped.
func script(t *testing.T, words ...string) string {
	t.Helper()
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skip(err)
	}
	command := words[0]
	for _, word := range words[1:] {
		command += fmt.Sprintf(", %q", word)
	}
	return command
}

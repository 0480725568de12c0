package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Explain returns one line for users: why containers have no limits, and how to get them.
func Explain(err error) string {
	text := fmt.Sprintf("containers have no limits of memory, CPU and processes: %v", err)
	if !errors.Is(err, fs.ErrPermission) || os.Geteuid() == 0 {
		return text
	}
	if _, managed := os.LookupEnv("XDG_RUNTIME_DIR"); managed {
		return text + "; `systemd-run --user --scope -p Delegate=yes slipway cluster start …` gives them some, and so does root"
	}
	return text + "; they have limits if root runs the cluster"
}

// Explain returns one line about the limits that are missing, or "".
func (t *Tree) Explain() string {
	missing := t.Unlimited()
	if len(missing) == 0 {
		return ""
	}
	names := map[string]string{memory: "memory", cpu: "CPU", pids: "processes"}
	for i, controller := range missing {
		missing[i] = names[controller]
	}
	return fmt.Sprintf("containers have no limits of %s: this machine's cgroups do not support them", strings.Join(missing, " and "))
}

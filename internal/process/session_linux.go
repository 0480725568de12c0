package process

import (
	"os"
	"strconv"
	"strings"
)

// members lists the living processes of a session.
func members(session int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err == nil && livesIn(string(stat), session) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// livesIn reads proc_pid_stat(5): after the name in parentheses, which may
// contain anything, come state, parent, process group and session.
func livesIn(stat string, session int) bool {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	return len(fields) > 3 && fields[3] == strconv.Itoa(session) && !strings.ContainsAny(fields[0], "ZX")
}

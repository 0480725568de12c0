package proving

import (
	"os"
	"testing"
)

// TestPanics: a panic that was recovered is found once, in each form in which it is logged, whatever else is logged.
func TestPanics(t *testing.T) {
	const message = "runtime error: index out of range [3] with length 0"
	for name, line := range map[string]string{
		"console": `2026-11-30T17:41:31Z	ERROR	Observed a panic	{"controller": "site", "reconcileID": "1f", "panic": "` + message + `", "panicGoValue": "x"}`,
		"JSON":    `{"level":"error","msg":"Observed a panic","controller":"site","panic":"` + message + `","stacktrace":"goroutine 1\n"}`,
		"klog":    `E1130 17:41:31.000000   1 panic.go:115] "Observed a panic" panic="` + message + `" panicGoValue="x"`,
	} {
		var logs processLogs
		log, file, err := logs.open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		write := func(text string) {
			if _, err := file.WriteString(text + "\n"); err != nil {
				t.Fatal(err)
			}
		}
		write(`an error says "panic": "no"`)
		if got := log.panic(); got != "" {
			t.Errorf("%s: %q before it", name, got)
		}
		write(line)
		write("more")
		if got := log.panic(); got != message {
			t.Errorf("%s: %q", name, got)
		}
		if got := log.panic(); got != "" {
			t.Errorf("%s: %q once more", name, got)
		}
		log.comes()
		log.remove()
		if _, err := os.Stat(logs.last()); err != nil {
			t.Errorf("%s: the log that may be shown: %v", name, err)
		}
		other, another, err := logs.open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		other.comes()
		log.remove()
		if _, err := os.Stat(log.path); err == nil {
			t.Errorf("%s: the log of a process that was killed stays", name)
		}
		file.Close()
		another.Close()
	}
}

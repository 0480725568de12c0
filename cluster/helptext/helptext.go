// Package helptext answers `kube-apiserver --help` before the program has begun.
//
// envtest asks that at every start of a control plane, to learn which flags there are. A thousand packages of
// Kubernetes are initialised before main runs, which takes ten times as long as everything else about such a short
// command. This one needs hardly any other and is therefore initialised early; so, like package collector, it makes an
// exception to the rule that packages do nothing by themselves. The text is the one that the command itself prints,
// recorded: a test in cluster/test compares the two, and records it with -update. The command answers itself when the
// text depends on the terminal or on other arguments.
package helptext

import (
	_ "embed" // the recorded text
	"os"
	"path/filepath"
	"strings"
)

//go:embed kube-apiserver.txt
var text string

var _ = answer(os.Args, os.Stdout)

// answer ends the program if all it is asked for is the text.
func answer(args []string, out *os.File) bool {
	if len(args) != 2 || args[1] != "--help" || text == "" || isTerminal(out) {
		return false
	}
	if strings.TrimSuffix(filepath.Base(args[0]), ".exe") != "kube-apiserver" {
		return false
	}
	if _, err := out.WriteString(text); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
	return true
}

// isTerminal also holds for what cannot be looked at.
func isTerminal(out *os.File) bool {
	info, err := out.Stat()
	return err != nil || info.Mode()&os.ModeCharDevice != 0
}

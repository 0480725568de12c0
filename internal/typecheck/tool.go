package typecheck

import (
	"fmt"
	"io"
	"slices"

	"github.com/slipway-dev/slipway/internal/process"
)

// ToolWord is slipway's first argument when the go command runs it in place of a compiler; see [RunTool].
const ToolWord = "compiler-that-compiles-nothing"

// RunTool stands in for the compiler argv[0]. It answers only for the compiler's version, which keys Go's build cache,
// and fails otherwise. So the go command finds what is compiled already and compiles nothing.
func RunTool(argv []string, stdout, stderr io.Writer) (code int) {
	isVersion := slices.Equal(argv[min(1, len(argv)):], []string{"-V=full"})
	// The go command asks a C compiler for its identity this way (cmd/go/internal/work/buildid.go). It compiles
	// nothing.
	isDriver := len(argv) == 6 && argv[1] == "-###" && argv[2] == "-x" && argv[4] == "-c" && argv[5] == "-"
	if !isVersion && !isDriver {
		_, _ = fmt.Fprintln(stderr, "it is not compiled yet")
		return 1
	}
	cmd, err := process.Command(argv[0], argv[1:]...)
	if err == nil {
		cmd.Stdout, cmd.Stderr = stdout, stderr
		err = cmd.Run()
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

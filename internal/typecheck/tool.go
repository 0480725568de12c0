package typecheck

import (
	"fmt"
	"io"
	"slices"

	"github.com/slipway-dev/slipway/internal/process"
)

// ToolWord is the first argument of slipway where the go command calls it in the place of a compiler; see [RunTool].
const ToolWord = "compiler-that-compiles-nothing"

// RunTool stands for the program argv[0], a compiler. It answers which version that is, since Go's build cache is asked
// by it, and fails for all else. So the go command finds what is compiled already, and compiles nothing.
func RunTool(argv []string, stdout, stderr io.Writer) (code int) {
	isVersion := slices.Equal(argv[min(1, len(argv)):], []string{"-V=full"})
	// A C compiler lists what it would run for standard input, and runs nothing: cmd/go/internal/work/buildid.go.
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

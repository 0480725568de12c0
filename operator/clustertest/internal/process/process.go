// Package process starts programs, and no other package of the module does: only those that no stranger has a part in.
//
//	cmd, err := process.Command(ctx, "slipway", "cluster", "build") // found on PATH; or a path
//
// It judges as the command does, and the two modules share no code: a test of the repository compares both.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// TrustVariable lists folders whose programs are trusted, also if other users may change them.
const TrustVariable = "SLIPWAY_TRUST"

// Why a program is not trusted.
var (
	ErrStranger = errors.New("it belongs to another user")
	ErrWritable = errors.New("other users may write to it")
)

// UntrustedError is a program that a stranger has a part in.
type UntrustedError struct {
	Path string // of the program
	At   string // the file, folder or link on the way to it that is the stranger's
	Err  error  // ErrStranger or ErrWritable
}

func (e *UntrustedError) Error() string { return e.At + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *UntrustedError) Unwrap() error { return e.Err }

// Command prepares a program that is looked for on PATH, unless its name is a path. It is killed when ctx ends.
func Command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	err = walk(path)
	if untrusted, ok := errors.AsType[*UntrustedError](err); ok && !vouched(path) {
		return nil, &fault.Error{What: "clustertest does not start " + path, Where: untrusted.At, Err: untrusted.Err, Next: fmt.Sprintf("ls -ld %q", untrusted.At),
			Hint: "a program must belong to you or root, and no other user may have the right to write; " + TrustVariable + " lists folders that you trust nevertheless"}
	} else if err != nil && !ok {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Args[0] = name
	return cmd, nil
}

// vouched reports whether the user has listed a folder around path.
func vouched(path string) bool {
	for _, folder := range filepath.SplitList(os.Getenv(TrustVariable)) {
		if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsAbs(folder) && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

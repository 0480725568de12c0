// Package process starts programs, and no other package does. It starts a program only if no stranger has a part in it:
//
//	cmd, err := process.CommandContext(ctx, "git", "status") // found on PATH; or a path
//	cmd, err := process.Command(program)                      // for a program that no context ends by itself
//	child, err := process.Start(cmd)                          // and all that it starts; [Child.Stop] ends them
//	child, err := process.StartDetached(cmd)                  // for what may outlive this process
//	err = process.Supervise(ctx, cmd, grace)                  // Start, until it ends, or ctx does
//	err = process.Become(argv, environ)                       // in place of this process
//	err = process.TrustAll(folder)                            // of sources that will be compiled and run
//
// Trusted are the user, root, and the owner of the program that runs: what that one writes runs already. A file is
// trusted if it and each folder and link on the way to it from the root belong to one of them, and no other user may
// write to it. In a folder with the sticky bit, such as /tmp, all may make files, but may not replace those of others.
// A group may write if it has no other members by convention: root's, and the user's private one.
//
// A machine may be set up otherwise and yet have one user, as that of a CI run. The variable SLIPWAY_TRUST lists
// folders below which everything is trusted.
//
// On Windows everything is trusted: the folders in which programs lie are their users' own there.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// TrustVariable lists folders whose programs and sources are trusted, as PATH lists its own.
const TrustVariable = "SLIPWAY_TRUST"

// Why a program or a folder of sources is not trusted.
var (
	ErrStranger = errors.New("it belongs to another user")
	ErrWritable = errors.New("other users may write to it")
)

// UntrustedError is a file that a stranger has a part in.
type UntrustedError struct {
	Path string // of the program or the folder
	At   string // the file, folder or link on the way to it that is the stranger's
	Err  error  // ErrStranger or ErrWritable
}

func (e *UntrustedError) Error() string { return e.At + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *UntrustedError) Unwrap() error { return e.Err }

// Report is the error as users read it; what names the step that is not done.
func (e *UntrustedError) Report(what string) *report.Error {
	r := &report.Error{What: what, Where: e.At, Err: e.Err, Next: "ls -ld " + shellword.Quote(e.At),
		Hint: fmt.Sprintf("a program must belong to you or root; if you trust all users who may change it, set %s=%s", TrustVariable, shellword.Quote(filepath.Dir(e.Path)))}
	if errors.Is(e.Err, ErrWritable) {
		r.Hint = fmt.Sprintf("only its owner may have the right to write; if you trust all users who have it, set %s=%s", TrustVariable, shellword.Quote(filepath.Dir(e.Path)))
		r.Next = "chmod go-w " + shellword.Quote(e.At)
		if e.At != e.Path && strings.HasPrefix(e.At, e.Path) {
			r.Next = "chmod -R go-w " + shellword.Quote(e.Path)
		}
	}
	return r
}

// Command prepares a program that is looked for on PATH, unless its name is a path.
func Command(name string, args ...string) (*exec.Cmd, error) {
	return CommandContext(context.Background(), name, args...)
}

// CommandContext is [Command] for a program that is killed when ctx ends.
func CommandContext(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	path, err := find(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Args[0] = name
	return cmd, nil
}

// find returns the absolute path of a program that is trusted.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	err = Trust(path)
	if untrusted, ok := errors.AsType[*UntrustedError](err); ok {
		return "", untrusted.Report("slipway does not start " + path)
	}
	return path, err
}

// Trust returns an [UntrustedError] if a stranger has a part in the file or folder at path.
func Trust(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	err = walk(path)
	if _, untrusted := errors.AsType[*UntrustedError](err); untrusted && vouched(path) {
		return nil
	}
	return err
}

// TrustAll is [Trust] for a folder of sources and all that lies in it.
func TrustAll(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil || vouched(dir) {
		return err
	}
	return walkAll(dir)
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

// IsMissing reports whether an error of [Command] is that PATH has no such program.
func IsMissing(err error) bool { return errors.Is(err, exec.ErrNotFound) }

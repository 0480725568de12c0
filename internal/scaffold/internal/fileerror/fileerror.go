// Package fileerror explains to the user why a file of the project cannot be read or written. Its errors state that
// nothing was changed: it is for failures before the first file is in place.
package fileerror

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Unreadable reports a file that cannot be read.
func Unreadable(path string, err error) error { return fileError("the file cannot be read", path, err) }

// Unwritable reports a file that cannot be written.
func Unwritable(path string, err error) error {
	return fileError("the file cannot be written", path, err)
}

func fileError(what, path string, err error) error {
	if out, ok := errors.AsType[*safefs.OutsideError](err); ok {
		return &report.Error{Class: report.BadProject, What: "the file is outside the project", Where: filepath.ToSlash(path), Err: err, Hint: "nothing was changed; remove " + cmp.Or(out.Link, "the cause") + ", or let the link lead into the project"}
	}
	return &report.Error{What: what, Where: filepath.ToSlash(path), Err: err, Hint: fileHint(err) + "; nothing was changed"}
}

func fileHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "you need permission to read and write the project's folder and files"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free space on the disk and run the command again"
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return "a folder is in the place of a file, or a file in that of a folder; move it away"
	}
	return "correct this and run the command again"
}

package transaction

import (
	"errors"
	"fmt"
)

// A FileError reports a file that cannot be read or written. Nothing was changed.
type FileError struct {
	Path  string // relative to the folder
	Write bool
	Err   error
}

func (e *FileError) Error() string {
	doing := "read"
	if e.Write {
		doing = "write"
	}
	return fmt.Sprintf("%s %s: %v", doing, e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// A ChangedError reports a file that changed since it was planned. Nothing was changed.
type ChangedError struct {
	Path string // relative to the folder
}

func (e *ChangedError) Error() string { return e.Path + " was changed in the meantime" }

// A StuckError reports a run that failed and could not be reverted. The journal stays, and [Recover] can try again.
type StuckError struct {
	Cause error // why the run failed
	Err   error // why it could not be reverted
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("%v; and it could not be restored: %v", e.Cause, e.Err)
}

// Unwrap returns both causes.
func (e *StuckError) Unwrap() []error { return []error{e.Cause, e.Err} }

// A ForeignError reports a pending run that no run of this user on this machine left in this folder. Nothing of it was
// read as a journal, and nothing was changed.
type ForeignError struct {
	Path string // relative to the folder
	Err  error
}

func (e *ForeignError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *ForeignError) Unwrap() error { return e.Err }

var (
	// ErrCopied means that the run belongs to another folder, which this one was copied from.
	ErrCopied  = errors.New("it belongs to another folder, and this one is its copy")
	errNotOurs = errors.New("another user or machine wrote it")
	errNoFile  = errors.New("it is a pipe, a socket or a device")
	errLinked  = errors.New("it must be a folder, not a link")
)

package transaction

import (
	"errors"
	"fmt"
)

// A FileError is a file that cannot be read or written. Nothing was changed.
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

// A ChangedError is a file that is not as it was when its change was planned. Nothing
// was changed.
type ChangedError struct {
	Path string // relative to the folder
}

func (e *ChangedError) Error() string { return e.Path + " was changed in the meantime" }

// A StuckError is a run that failed and could not be taken back; the journal stays, and
// [Recover] can be tried again.
type StuckError struct {
	Cause error // why it failed
	Err   error // why it could not be taken back
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("%v; and it could not be restored: %v", e.Cause, e.Err)
}

// Unwrap returns both causes.
func (e *StuckError) Unwrap() []error { return []error{e.Cause, e.Err} }

// A ForeignError is something in the place of an interrupted run that no run of this user on this machine has left, or
// not in this folder. Nothing of it is used, and nothing was changed.
type ForeignError struct {
	Path string // relative to the folder
	Err  error
}

func (e *ForeignError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *ForeignError) Unwrap() error { return e.Err }

// Why an interrupted run is foreign.
var (
	// ErrCopied is the run of another folder, which this one was copied from.
	ErrCopied  = errors.New("it belongs to another folder, and this one is its copy")
	errNotOurs = errors.New("another user or machine wrote it")
	errNoFile  = errors.New("it is a pipe, a socket or a device")
	errLinked  = errors.New("it must be a folder, not a link")
)

package transaction

import "fmt"

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
	return fmt.Sprintf("%v; and it could not be taken back: %v", e.Cause, e.Err)
}

// Unwrap returns both causes.
func (e *StuckError) Unwrap() []error { return []error{e.Cause, e.Err} }

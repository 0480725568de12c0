package protocol

// ComponentError is a failure of one component.
type ComponentError struct {
	Component string // one of the constants, such as [Etcd]
	Err       error
}

// Error says which component failed and why.
func (e *ComponentError) Error() string { return e.Component + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ComponentError) Unwrap() error { return e.Err }

//go:build !unix

package removetree

import "os"

// All is os.RemoveAll here, where paths have a limit.
func All(path string) error { return os.RemoveAll(path) }

//go:build !unix

package removetree

import "os"

// All is os.RemoveAll on systems that limit the length of paths.
func All(path string) error { return os.RemoveAll(path) }

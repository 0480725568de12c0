//go:build !unix

package safefs

import "io/fs"

// OwnedByUser holds for every file: each user has a folder of their own for temporary files there.
func OwnedByUser(fs.FileInfo) bool { return true }

// IsPrivate holds for every file, for the same reason.
func IsPrivate(fs.FileInfo) bool { return true }

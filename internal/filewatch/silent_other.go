//go:build !linux && !darwin

package filewatch

// silent returns the name of a file system that does not report changes. On Windows all report them, also those of
// other machines, by ReadDirectoryChangesW.
func silent(string) string { return "" }

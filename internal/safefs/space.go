package safefs

// FreeSpace is how many bytes this user may still write to the disk of a folder, which must be there. If the system
// does not say, known is false: a full disk then shows only when it is written to.
func FreeSpace(dir string) (bytes uint64, known bool) { return free(dir) }

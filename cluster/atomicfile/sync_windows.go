package atomicfile

// syncFolder has nothing to do: folders cannot be synced on Windows, whose file systems keep a journal of names.
func syncFolder(string) error { return nil }

// Package removetree removes folders that a pod has written to. They may have more levels than a process may open
// files, and longer paths than the system allows. There os.RemoveAll fails, because it opens one file for each level,
// and meanwhile leaves the process no files. The command has a copy of this package, because the two modules share no
// code.
package removetree

// Package removetree removes folders that a pod has written to. Such a folder may be deeper than a process may have
// open files, and deeper than a path may be long: os.RemoveAll has one file open for each level, and fails there. The
// cluster's module has the same code: the two modules share none.
package removetree

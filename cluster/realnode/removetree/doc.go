// Package removetree removes folders that a pod has written to. Such a folder may be deeper than a process may have
// open files, and deeper than a path may be long: os.RemoveAll has one file open for each level, fails there, and
// leaves no files for the rest of the process meanwhile. The command has a package of the same name: the two modules
// share no code.
package removetree

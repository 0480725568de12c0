// Package inputs remembers what a run read and wrote, so that a run in which
// nothing changed is over after a look at the files' status.
//
// A run reads everything through [Set], which notes each file, each folder and
// each place where nothing was:
//
//	m := inputs.In(folder, key)
//	if answer, ok := m.Fresh(); ok {
//		return answer // what was saved
//	}
//	set := inputs.NewSet()
//	… set.ReadFile(…) … set.ReadDir(…) … set.Stat(…) …
//	err := m.Save(set, outputs, answer, help)
//
// A run in which something has changed can begin from [Memory.Last]: it lists what
// has, gives the help that was saved for it, and its [Last.Inputs] carry over all that
// has not changed.
//
// The key says everything else that the run depends on: options, environment, the
// program itself. Each key has a file of its own in the folder, which is the
// user's cache and never the project.
//
// A file counts as unchanged when size, time of modification, time of the last change of status and inode are the same,
// as git and the go command hold it. Two changes within one tick of a file system's clock look like one. So the content
// of a file that was younger than [settled] when it was read is compared as well, until it is found unchanged later. A
// folder counts by the names and types of its entries.
//
// A memory that is damaged, of another version or gone is no error: the run
// just has to be done.
package inputs

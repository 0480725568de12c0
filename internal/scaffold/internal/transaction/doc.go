// Package transaction changes many files of a folder or none of them. That holds if the process is killed, the disk is
// full or a file cannot be written.
//
//	key, err := transaction.ReadKey(folder)
//	err := transaction.Run(transaction.OS{}, root, key, files)
//
// Run writes everything into the folder .slipway/pending first: new contents, copies of old ones, and last a journal
// that names every change. Then each file gets its new content by one rename. Files that only move, or are deleted, are
// renamed without a copy: they are their own backup. Renaming the journal makes the run final. Until then it can be
// reverted: by Run when a step fails, or by [Recover] after the process was killed.
//
//	restored, err := transaction.Recover(transaction.OS{}, root, key)
//
// Callers run Recover before they plan anything in the folder. It restores each file that the killed run changed,
// except those that others changed since. Recover may be killed too; the next one continues.
//
// A repository may contain a journal of another user, and a folder may be copied in the middle of a run. So a [Key] of
// the user on this machine seals the journal, and the journal names the folder by its number in the file system.
// Everything else is a [ForeignError] and stays as it is. Recover compares each backup with the journal before it
// restores it. All writing is below the folder (package safefs); the paths in a journal are checked again when it is
// read.
//
// Runs in one folder must not overlap: the caller holds a lock. Run refuses files that changed since they were planned.
package transaction

// Package transaction changes many files of a folder or none of them, also when the
// process is killed, the disk is full or a file cannot be written.
//
//	key, err := transaction.ReadKey(folder)
//	err := transaction.Run(transaction.OS{}, root, key, files)
//
// Whatever is written is written into the folder .slipway/pending first: the new
// contents, copies of the old ones, and last of all a journal that names every change.
// Then each file gets its new content by one rename. Files that move as they are, and those that are
// deleted, are renamed without being copied: they are their own backup. Renaming the journal is what makes
// the run final. Until then it can be taken back: by Run itself when a step fails, and
// by [Recover] when the process did not live to do that.
//
//	restored, err := transaction.Recover(transaction.OS{}, root, key)
//
// Recover is called before anything else is planned in the folder. It restores each file
// that the dead run had changed, and leaves alone those that others changed since. It
// can be killed too: the next one goes on with it.
//
// A repository may carry a journal that another user wrote, and a half-done project may be copied. So the journal is
// sealed with a [Key] of the user on this machine and names the folder by its number in the file system; anything else
// is a [ForeignError] and stays as it is. A copy that is kept for a file is compared with the journal before it is put
// back. All writing is below the folder (package safefs), and the paths that a journal names are checked again when it
// is read.
//
// Runs in the same folder must not overlap; their caller holds a lock. Files that a
// person changed between planning and running are refused.
package transaction

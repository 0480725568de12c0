// Package userdirs has the folders that slipway keeps for its user, and decides which of them it may remove.
//
// [Cache] is the folder of what can be made again. Each part has folders of its own below it: programs, images, runs of
// generators, answers of other programs. Only [Locks] lies elsewhere, since two commands of one user must agree on it.
//
// [MakePrivate] makes a user's own folder below the system's temporary one, for what has no other place. Any user can
// make a folder of that name there before, and plant links in it.
//
// A [Scratch] is a folder that goes with its command, also when that is killed: the next command that makes one of the
// same prefix removes it. A lock in it says that it is in use; the system lets go of it when the process ends. The lock
// is taken before the mark is written, so a folder with a mark and a free lock is left over.
//
//	folder, err := userdirs.NewScratch("slipway-run-")
//	defer folder.Remove()
//	os.WriteFile(filepath.Join(folder.Path, "key"), …)
//
// Slipway removes folders that bear its mark, and no others. A name proves nothing, and neither does a lock that is
// missing or free: users call their projects what they like.
package userdirs

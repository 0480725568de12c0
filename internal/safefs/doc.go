// Package safefs reads and writes files where nothing else can be trusted: in repositories of strangers, in folders
// that all users of a machine share, and while a process, or the machine, may end at any moment.
//
// Writing. A reader, or a crash, meets the old content or the new one and never a half of it. [Write] is for what
// cannot be made again: the new content is on the disk when it returns, and a power loss leaves no empty file.
// [WriteCache] is for what can: it waits for no disk, and [Sync] does so later. [Update] is for files of the user that
// others write too: they stay what they are in all but their content.
//
// Writing below one folder and nowhere else. A file or a folder of a repository may be a symbolic link to anywhere, and
// a path in one of its files may be absolute or begin with "..". A [Folder] writes for all verbs that change a project:
//
//	folder, err := safefs.OpenFolder(root)
//	defer folder.Close()
//	err = folder.WriteFile("config/rbac/role.yaml", content)
//
// Links that stay below the folder are followed and stay links. A path that leads out of it is refused with an
// [OutsideError], which names the link. Git's own folder is outside too, because git runs what lies in there.
// [Folder.Stage] divides a replacement in two, so that many files can be written in full before the first one is
// replaced. A link is looked at first and followed by os.Root, which stays below its folder also when another process
// changes links meanwhile.
//
// Reading. [ReadFile] reads a file that may be a link to one without an end, or a pipe that no process writes to.
//
// Looking. [Identity] reports files apart without reading them; [OwnedByUser] and [IsPrivate] say whose a file is, for
// a stranger may have made what has the right name; [FreeSpace] is the room on a disk.
package safefs

package session

import (
	"io/fs"
	"os"
	"syscall"
)

// isPrivate holds for every file: each user has a folder of their own for temporary files there.
func isPrivate(fs.FileInfo) bool { return true }

// inode is the number by which the file system knows a folder. A copy has another one.
func inode(dir string) (uint64, error) {
	name, err := syscall.UTF16PtrFromString(dir)
	if err != nil {
		return 0, &os.PathError{Op: "inode", Path: dir, Err: err}
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	const flags = syscall.FILE_FLAG_BACKUP_SEMANTICS | syscall.FILE_FLAG_OPEN_REPARSE_POINT // a folder, a link itself
	folder, err := syscall.CreateFile(name, 0, share, nil, syscall.OPEN_EXISTING, flags, 0)
	if err != nil {
		return 0, &os.PathError{Op: "inode", Path: dir, Err: err}
	}
	defer func() { _ = syscall.CloseHandle(folder) }()
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(folder, &info); err != nil {
		return 0, &os.PathError{Op: "inode", Path: dir, Err: err}
	}
	return uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow), nil
}

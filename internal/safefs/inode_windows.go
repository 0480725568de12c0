package safefs

import (
	"os"
	"syscall"
)

// Inode is the number by which a file system knows a file or folder, links not followed. A copy has another one, and
// whatever is renamed keeps its own.
func Inode(path string) (uint64, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return 0, &os.PathError{Op: "inode", Path: path, Err: err}
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	const flags = syscall.FILE_FLAG_BACKUP_SEMANTICS | syscall.FILE_FLAG_OPEN_REPARSE_POINT // a folder, a link itself
	file, err := syscall.CreateFile(name, 0, share, nil, syscall.OPEN_EXISTING, flags, 0)
	if err != nil {
		return 0, &os.PathError{Op: "inode", Path: path, Err: err}
	}
	defer func() { _ = syscall.CloseHandle(file) }()
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(file, &info); err != nil {
		return 0, &os.PathError{Op: "inode", Path: path, Err: err}
	}
	return uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow), nil
}

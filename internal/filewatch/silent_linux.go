package filewatch

import "golang.org/x/sys/unix"

// silent returns the name of a file system that does not report what others than this kernel change in it, or "". The
// numbers are those of Linux's include/uapi/linux/magic.h, those of vboxsf that of its fs/vboxsf/super.c; the last
// three are in no header of Linux, but in those of their makers, as GNU coreutils' src/stat.c lists them.
func silent(path string) string {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return ""
	}
	return silentType(uint32(stat.Type)) // the kernel's numbers have 32 bits; the field's type is not the same everywhere
}

func silentType(number uint32) string {
	switch number {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case unix.FUSE_SUPER_MAGIC: // also virtiofs, and the shared folders of Docker Desktop
		return "FUSE"
	case unix.V9FS_MAGIC: // also the drives of Windows in WSL 2
		return "9p"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.NCP_SUPER_MAGIC:
		return "NCP"
	case unix.OCFS2_SUPER_MAGIC:
		return "OCFS2"
	case unix.HOSTFS_SUPER_MAGIC:
		return "hostfs"
	case 0x786f4256:
		return "vboxsf"
	case 0xbacbacbc:
		return "vmhgfs"
	case 0x7c7c6673:
		return "prl_fs"
	case 0x0bd00bd0:
		return "Lustre"
	}
	return ""
}

package filewatch

import "testing"

// TestSilent: the file systems of this machine's own disks and memory report changes, and those of others do not. The
// numbers are those that statfs(2) lists.
func TestSilent(t *testing.T) {
	for number, want := range map[uint32]string{
		0xef53: "", 0x01021994: "", 0x9123683e: "", 0x58465342: "", 0x794c7630: "", 0x2fc12fc1: "", // ext4, tmpfs, Btrfs, XFS, overlay, ZFS
		0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x65735546: "FUSE", 0x01021997: "9p", 0x786f4256: "vboxsf",
	} {
		if got := silentType(number); got != want {
			t.Errorf("%#x is %q, want %q", number, got, want)
		}
	}
	if got := silent("/proc"); got != "" {
		t.Errorf("/proc is %q", got)
	}
}

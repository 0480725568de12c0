package transaction

import (
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// Identity distinguishes a folder from all others and from its copies, whatever path leads to it.
func Identity(root *os.Root) (volume, folder string, err error) {
	f, err := root.Open(".")
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return "", "", &os.PathError{Op: "identify", Path: root.Name(), Err: err}
	}
	return strconv.FormatUint(uint64(info.VolumeSerialNumber), 16), strconv.FormatUint(uint64(info.FileIndexHigh)<<32|uint64(info.FileIndexLow), 16), nil
}

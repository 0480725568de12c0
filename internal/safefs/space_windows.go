package safefs

import "golang.org/x/sys/windows"

func free(dir string) (uint64, bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var bytes uint64
	if windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil) != nil {
		return 0, false
	}
	return bytes, true
}

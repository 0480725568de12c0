package arguments

import (
	"path"
	"strings"
)

// Covers reports whether a pattern of folders, such as ./api/..., names a folder. Both are relative to the same one,
// with slashes.
func Covers(pattern, folder string) bool {
	start, below := strings.CutSuffix(pattern, "...")
	start = path.Clean(start)
	return start == folder || below && (start == "." || strings.HasPrefix(folder, start+"/"))
}

package kind

import (
	"path"
	"strings"
)

// PathToRoot is the way from a folder of the project to the project's own, as arguments of filepath.Join.
func PathToRoot(dir string) string {
	return strings.Repeat(`"..", `, strings.Count(path.Clean(dir), "/")) + `".."`
}

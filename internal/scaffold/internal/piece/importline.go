package piece

import (
	"go/parser"
	"path"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// importSpec returns the path of a fragment that is one import.
func importSpec(code string) (string, bool) {
	fields := strings.Fields(code)
	if strings.Count(code, "\n") != 1 || len(fields) == 0 || len(fields) > 2 {
		return "", false
	}
	path, err := strconv.Unquote(fields[len(fields)-1])
	return path, err == nil
}

// importPosition keeps the project's imports above the marker sorted by path, as
// gofmt does. It reports whether they begin a group there.
func importPosition(lines []string, marker int, path, module string) (at int, begin bool) {
	at = marker
	for at > 0 {
		above, ok := importSpec(strings.TrimSpace(lines[at-1]) + "\n")
		if !ok {
			return at, false
		}
		if above != module && !strings.HasPrefix(above, module+"/") {
			return at, at == marker
		}
		if above <= path {
			return at, false
		}
		for at--; at > 0 && strings.HasPrefix(strings.TrimSpace(lines[at-1]), "//"); {
			at-- // which is about that import
		}
	}
	return at, false
}

// ImportAt is the fragment that imports a package, of the project with this module, under a
// name at the insertion point for imports.
func ImportAt(module, name, pkg string) Fragment {
	code := strconv.Quote(pkg) + "\n"
	if name != path.Base(pkg) {
		code = name + " " + code
	}
	return Fragment{Marker: "imports", Code: code, Key: strconv.Quote(pkg), Module: module}
}

// A UsedImport is the import of a package that other code of the file may use, too: it is taken with the last use.
type UsedImport struct {
	Fragment
	Name string // of the package in the file
}

// UsedImportAt is [ImportAt] for such a package.
func UsedImportAt(module, name, pkg string) UsedImport {
	return UsedImport{ImportAt(module, name, pkg), name}
}

// TakenUnused marks the piece as one that only its last use keeps.
func (u UsedImport) TakenUnused() {}

// Take removes the import if nothing in the file uses it any more.
func (u UsedImport) Take(src []byte) ([]byte, int) {
	if parsed, _, err := gofile.Parse("", src, parser.SkipObjectResolution); err != nil || usesPackage(parsed, u.Name) {
		return src, 0
	}
	return u.Fragment.Take(src)
}

package modulekinds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// errOutside is why a link is not written through.
var errOutside = errors.New("it is a link that leads out of the module")

// refuseLinks refuses a folder whose go.mod, go.sum, go.work or go.work.sum is a link that leads out of the module, or
// of its workspace: the go command completes the sums, in a workspace also when it only lists packages.
func refuseLinks(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var files []string
	mod, work := above(dir, "go.mod"), os.Getenv("GOWORK")
	if work == "" || work == "auto" {
		work = above(dir, "go.work")
	}
	root := filepath.Dir(mod)
	if mod != "" {
		files = append(files, mod, strings.TrimSuffix(mod, "mod")+"sum")
	}
	if work != "" && work != "off" {
		root = filepath.Dir(work)
		files = append(files, work, work+".sum")
	}
	for _, file := range files {
		if leaves(file, root, filepath.Dir(file)) {
			return &fault.Error{What: "the go command would write to a file outside the module", Where: file, Err: errOutside,
				Hint: "replace the link by a copy of the file", Next: fmt.Sprintf("ls -l %q", file)}
		}
	}
	return nil
}

// above returns the path of the file of a name in a folder, or the nearest one above that has it; empty if none has.
func above(dir, name string) string {
	for {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			return file
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// leaves reports whether a file is a link that leads out of all of the folders, or to where nothing is.
func leaves(file string, folders ...string) bool {
	info, err := os.Lstat(file)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	real, err := filepath.EvalSymlinks(file)
	for _, folder := range folders {
		if at, unreadable := filepath.EvalSymlinks(folder); err == nil && unreadable == nil {
			if rel, apart := filepath.Rel(at, real); apart == nil && filepath.IsLocal(rel) {
				return false
			}
		}
	}
	return true
}

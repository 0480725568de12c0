package gocommand

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// refuseLinks refuses a command whose go.mod, go.sum, go.work or go.work.sum is a link that leads out of the module,
// or of the workspace that the module is in.
func (c *Command) refuseLinks() error {
	dir := c.folder()
	mod, work := above(dir, "go.mod"), Workspace(dir, c.Env)
	var files []string
	if mod != "" {
		files = append(files, mod, strings.TrimSuffix(mod, "mod")+"sum")
	}
	if work != "" {
		files = append(files, work, work+".sum")
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		info, err := os.Lstat(file)
		return err != nil || info.Mode()&fs.ModeSymlink == 0
	})
	for _, file := range files {
		root := filepath.Dir(file)
		if work != "" && within(filepath.Dir(work), root) {
			root = filepath.Dir(work)
		}
		if err := stays(root, file); err != nil {
			return err
		}
	}
	return nil
}

// folder is where the go command looks for its files: -C, the first of its flags, names another one.
func (c *Command) folder() string {
	dir, _ := filepath.Abs(c.Dir) // without a working folder there are no files to find
	if len(c.Args) < 2 {
		return dir
	}
	flag, value, joined := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(c.Args[1], "-"), "-"), "=")
	switch {
	case flag != "C" || c.Args[1] == flag:
		return dir
	case !joined && len(c.Args) > 2:
		value = c.Args[2]
	}
	if filepath.IsAbs(value) {
		return value
	}
	return filepath.Join(dir, value)
}

// Workspace returns the path of the go.work that the go command uses in a folder; empty if there is none.
func Workspace(dir string, env []string) string {
	switch named := cmp.Or(variable(env, "GOWORK"), written("GOWORK")); named {
	case "", "auto":
		return above(dir, "go.work")
	case "off":
		return ""
	default:
		return named
	}
}

// variable returns the value of a variable in env, where the last one counts.
func variable(env []string, name string) (value string) {
	for _, pair := range env {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			value = v
		}
	}
	return value
}

// above returns the path of the file of a name in a folder, or the nearest one above that has it; empty if none has.
func above(dir, name string) string {
	for {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return file
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

func within(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// stays refuses a link that leads out of a folder around it.
func stays(root, link string) error {
	folder, err := safefs.OpenFolder(root)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // nothing was written
	name, _ := folder.Below(link)
	_, err = folder.Resolve(name)
	if _, out := errors.AsType[*safefs.OutsideError](err); out {
		return &report.Error{Class: report.BadProject, What: "the go command would write to a file outside the module", Where: link, Err: err,
			Hint: "nothing was changed; replace the link by a copy of the file", Next: "ls -l " + shellword.Quote(link)}
	}
	return err
}

package gocommand

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// Copies are files that the go command may write to, with -mod=mod go.mod and go.sum, and in a workspace always
// go.work.sum. A command that is to change nothing gets copies of them, with the sums beside them.
type Copies struct {
	Work string // the path of go.work, or
	Mod  string // that of go.mod
}

// shield keeps the command from writing to what is not to be written to, until done is called.
func (c *Command) shield() (done func(), err error) {
	if c.Copies == (Copies{}) {
		return func() {}, c.refuseLinks()
	}
	folder, err := c.Copies.make()
	if err != nil {
		return nil, err
	}
	if c.Copies.Work != "" {
		c.Env = append(slices.Clone(c.Env), "GOWORK="+filepath.Join(folder.Path, "go.work"))
	} else {
		c.Args = slices.Insert(slices.Clone(c.Args), 1, "-modfile="+filepath.Join(folder.Path, "go.mod"))
	}
	return func() { _ = folder.Remove() }, nil
}

// make makes them in a new folder.
func (c Copies) make() (userdirs.Scratch, error) {
	if c.Work != "" {
		return copyWorkspace(c.Work)
	}
	data, err := safefs.ReadFile(c.Mod)
	if err != nil {
		return userdirs.Scratch{}, err
	}
	return copied("go.mod", data, strings.TrimSuffix(c.Mod, ".mod")+".sum", "go.sum")
}

// copied is a new folder with a file and, where there are any, its sums.
func copied(name string, data []byte, sumsFrom, sumsTo string) (userdirs.Scratch, error) {
	folder, err := userdirs.NewScratch("slipway-modules-")
	if err != nil {
		return userdirs.Scratch{}, err
	}
	err = os.WriteFile(filepath.Join(folder.Path, name), data, 0o600)
	if sums, absent := safefs.ReadFile(sumsFrom); absent == nil && err == nil {
		err = os.WriteFile(filepath.Join(folder.Path, sumsTo), sums, 0o600)
	}
	if err != nil {
		return userdirs.Scratch{}, errors.Join(err, folder.Remove())
	}
	return folder, nil
}

// copyWorkspace copies a go.work and its go.work.sum into a new folder, from where its paths lead to the same places.
func copyWorkspace(work string) (userdirs.Scratch, error) {
	data, err := safefs.ReadFile(work)
	if err != nil {
		return userdirs.Scratch{}, err
	}
	file, err := modfile.ParseWork(work, data, nil)
	if err == nil {
		err = makeAbsolute(file, filepath.Dir(work))
	}
	if err != nil {
		return userdirs.Scratch{}, err
	}
	return copied("go.work", modfile.Format(file.Syntax), work+".sum", "go.work.sum")
}

func makeAbsolute(file *modfile.WorkFile, dir string) error {
	absolute := func(path string) string {
		if path = filepath.FromSlash(path); filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	for _, use := range append([]*modfile.Use(nil), file.Use...) {
		if filepath.IsAbs(filepath.FromSlash(use.Path)) {
			continue
		}
		path, module := use.Path, use.ModulePath
		if err := file.DropUse(path); err != nil {
			return err
		}
		if err := file.AddUse(filepath.ToSlash(absolute(path)), module); err != nil {
			return err
		}
	}
	for _, r := range append([]*modfile.Replace(nil), file.Replace...) {
		if r.New.Version != "" {
			continue
		}
		if err := file.AddReplace(r.Old.Path, r.Old.Version, filepath.ToSlash(absolute(r.New.Path)), ""); err != nil {
			return err
		}
	}
	file.Cleanup()
	return nil
}

package kustomize

import (
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// A confined disk writes through no link that leads out of a folder. What the user names outside of the folder is
// written as it is.
type confined struct {
	filesys.FileSystem
	folder  *safefs.Folder
	refused error // the first refusal, which kustomize may hide
}

// place is the name of a file in the folder without links; inside is false for one that is not below.
func (c *confined) place(path string) (name string, inside bool, err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", false, err
	}
	name, inside = c.folder.Below(full)
	if !inside {
		return "", false, nil
	}
	name, err = c.folder.Resolve(name)
	if err != nil && c.refused == nil {
		c.refused = err
	}
	return filepath.FromSlash(name), true, err
}

// mode is that of new folders.
const mode = 0o777

func (c *confined) Create(path string) (filesys.File, error) {
	name, inside, err := c.place(path)
	switch {
	case err != nil:
		return nil, err
	case inside:
		return c.folder.Root().Create(name)
	}
	return c.FileSystem.Create(path)
}

func (c *confined) Mkdir(path string) error {
	name, inside, err := c.place(path)
	switch {
	case err != nil:
		return err
	case inside:
		return c.folder.Root().Mkdir(name, mode)
	}
	return c.FileSystem.Mkdir(path)
}

func (c *confined) MkdirAll(path string) error {
	name, inside, err := c.place(path)
	switch {
	case err != nil:
		return err
	case inside:
		return c.folder.Root().MkdirAll(name, mode)
	}
	return c.FileSystem.MkdirAll(path)
}

func (c *confined) RemoveAll(path string) error {
	name, inside, err := c.place(path)
	switch {
	case err != nil:
		return err
	case inside:
		return c.folder.Root().RemoveAll(name)
	}
	return c.FileSystem.RemoveAll(path)
}

func (c *confined) WriteFile(path string, content []byte) error {
	name, inside, err := c.place(path)
	switch {
	case err != nil:
		return err
	case inside:
		return c.folder.WriteFile(filepath.ToSlash(name), content)
	}
	return c.FileSystem.WriteFile(path, content)
}

// guard has a command, and those below it, refuse an argument that is a folder with such a link, or below one.
func (c *confined) guard(command *cobra.Command) {
	for _, below := range command.Commands() {
		c.guard(below)
	}
	run := command.RunE
	if run == nil {
		return
	}
	command.RunE = func(cmd *cobra.Command, args []string) error {
		for _, arg := range args {
			if err := c.linkless(arg); err != nil {
				return err
			}
		}
		return run(cmd, args)
	}
}

// linkless refuses a folder that has, or is reached by, a link that leads out.
func (c *confined) linkless(folder string) error {
	if _, inside, err := c.place(folder); !inside || err != nil {
		return err
	}
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			_, _, err = c.place(path)
		}
		return err
	})
}

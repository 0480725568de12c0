package derived

import (
	"bytes"
	"maps"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
)

// An Adoption describes how to take over a folder that another tool made.
type Adoption struct {
	Content map[string][]byte // of made files that also have content of the user's
	Removed []string          // files of the other tool to delete
	Left    []string          // made files to leave out, since a file of the user has the same object
	Refused []*report.Error   // reasons why the folder cannot be adopted
}

// adopt plans the made files in place of another tool's. The base records them as they are made, so that content of the
// user's counts as the user's change.
func (d *deriving) adopt() error {
	for _, refusal := range d.Adopt.Refused {
		d.Refuse(refusal)
	}
	for _, file := range slices.Sorted(maps.Keys(d.Files)) {
		if err := d.adoptFile(file, d.Files[file]); err != nil {
			return err
		}
	}
	for _, file := range d.Adopt.Removed {
		if d.Files[file] != nil {
			continue
		}
		if err := d.Remove(path.Join(d.Folder, file)); err != nil {
			return err
		}
	}
	return d.FinishBase()
}

func (d *deriving) adoptFile(file string, made []byte) error {
	target := path.Join(d.Folder, file)
	c, err := d.Find(target)
	if err != nil {
		return err
	}
	content, changed := d.Adopt.Content[file]
	if !changed {
		content = made
	}
	switch {
	case slices.Contains(d.Adopt.Left, file):
		err = d.Keep(target, "not created: a template that you changed has the same object")
	case !c.There():
		err = d.Create(target, content)
	case changed || slices.Contains(d.Adopt.Removed, file):
		err = d.Write(target, content)
	case !bytes.Equal(c.After(), made):
		return d.Keep(target, "it existed already")
	}
	d.Base().Set(target, made)
	return err
}

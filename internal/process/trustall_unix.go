//go:build unix

package process

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// walkAll looks at what lies in a folder, too.
func walkAll(dir string) error {
	users := trusted()
	if err := users.walk(dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir // of which nothing is compiled
		case d.Type()&fs.ModeSymlink != 0:
			if err := users.walk(path); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		}
		info, err := d.Info()
		if err == nil {
			err = users.judge(dir, path, info)
		}
		return err
	})
}

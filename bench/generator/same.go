package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errDiffers says that the contenders did not do the same work, so that their times tell nothing.
var errDiffers = errors.New("not written alike")

// sameFiles compares two folders, apart from what the go command may write there.
func sameFiles(ours, peer string) error {
	a, err := files(ours)
	if err != nil {
		return err
	}
	b, err := files(peer)
	if err != nil {
		return err
	}
	var errs []error
	for name, content := range b {
		if got, found := a[name]; !found || !bytes.Equal(got, content) {
			errs = append(errs, fmt.Errorf("%s: %w", name, errDiffers))
		}
		delete(a, name)
	}
	for name := range a {
		errs = append(errs, fmt.Errorf("%s: %w: controller-gen has no such file", name, errDiffers))
	}
	return errors.Join(errs...)
}

func files(dir string) (map[string][]byte, error) {
	all := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "go.mod" || entry.Name() == "go.sum" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		all[name], err = os.ReadFile(path)
		return err
	})
	return all, err
}

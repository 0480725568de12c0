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
	for name := range b {
		if !a[name] {
			errs = append(errs, fmt.Errorf("%s: %w: only controller-gen has such a file", name, errDiffers))
			continue
		}
		errs = append(errs, sameFile(name, ours, peer))
	}
	for name := range a {
		if !b[name] {
			errs = append(errs, fmt.Errorf("%s: %w: controller-gen has no such file", name, errDiffers))
		}
	}
	return errors.Join(errs...)
}

func sameFile(name, ours, peer string) error {
	a, err := os.ReadFile(filepath.Join(ours, name))
	if err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(peer, name))
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("%s: %w", name, errDiffers)
	}
	return nil
}

// files are the names of all files below dir.
func files(dir string) (map[string]bool, error) {
	all := make(map[string]bool)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "go.mod" || entry.Name() == "go.sum" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all[name] = true
		return err
	})
	return all, err
}

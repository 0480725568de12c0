package kustomization

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/kustomizefs"
	"github.com/slipway-dev/slipway/internal/report"
)

// Read returns the text of the kustomization in dir.
func (f Files) Read(dir string) ([]byte, error) {
	path, err := kustomizationIn(dir)
	if err != nil {
		return nil, err
	}
	text, err := kustomizefs.Over(f.disk(nil)).ReadFile(path)
	if _, limit := errors.AsType[*kustomizefs.LimitError](err); limit {
		return nil, tooMuch(dir, err)
	}
	if err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "the kustomization cannot be read", Where: path, Err: err}
	}
	return text, nil
}

// BuildEdited is [Kustomization.Build] as if files had other texts: that of the kustomization in dir itself is given,
// and what edit makes of all others. Nothing is written. What kustomize by itself does not do is told, unless tell is
// nil.
func BuildEdited(ctx context.Context, files Files, dir string, text []byte, edit func(path string, text []byte) []byte, tell func(text string)) ([]*unstructured.Unstructured, error) {
	disk, err := withKustomization(files.disk(nil), dir, text, edit)
	if err != nil {
		return nil, err
	}
	return build(ctx, note(disk, files.Roles), dir, tell)
}

// withKustomization is the disk with another text of the kustomization in dir, and what edit makes of all other files.
func withKustomization(disk filesys.FileSystem, dir string, text []byte, edit func(path string, text []byte) []byte) (filesys.FileSystem, error) {
	path, err := kustomizationIn(dir)
	if err != nil {
		return nil, err
	}
	if path, err = readAs(path); err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "the kustomization cannot be read", Where: path, Err: err}
	}
	return edited{disk, func(other string, otherText []byte) ([]byte, error) {
		if other == path {
			return bytes.Clone(text), nil
		}
		return edit(other, otherText), nil
	}}, nil
}

// readAs is the name by which kustomize asks for a file: absolute and without links.
func readAs(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// edited is a disk of which every file is edited when it is read.
type edited struct {
	filesys.FileSystem
	edit func(path string, text []byte) ([]byte, error)
}

// ReadFile reads a file.
func (e edited) ReadFile(path string) ([]byte, error) {
	text, err := e.FileSystem.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return e.edit(path, text)
}

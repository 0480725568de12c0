// Package disk keeps what an OCI registry serves in files. [New] returns a backend for
// package ociserver:
//
//	handler := ociserver.New(disk.New(dir, true), nil)
//
// The folder is made with the first image. Below it are
//
//	blobs/sha256/HEX                           contents, by their digest, manifests among them
//	repositories/NAME/_manifests/sha256/HEX    that a repository has a manifest: its descriptor
//	repositories/NAME/_manifests/tags/TAG      what a tag points to: a descriptor
//	repositories/NAME/_manifests/before/TAG    what it pointed to before that
//	uploads/ID                                 what is being pushed
//
// A file under blobs or repositories is whole or not there: it is written as an upload, and renamed. So
// whatever ends the process, and when, what was acknowledged is there and nothing else is.
// All repositories have their contents in common: what one has need not be pushed to another.
//
// Nothing has to be kept that no tag leads to. A sweep, with the first request and then once an hour, removes manifests
// without a tag that were not requested for an hour, and then contents of no manifest. [Backend.Prune] does the same on
// request, after any time. What a tag led to before stays, and so does what containers run: see [Backend.Uses].
package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
)

// ErrFull marks what could not be kept because the disk is full.
var ErrFull = errors.New("the disk is full")

// Backend is the images in a folder. It is for one process at a time.
type Backend struct {
	*ociregistry.Funcs // answers what a backend cannot do
	dir                string
	durable            bool

	// use is held by requests that rely on what is there to stay; a sweep takes it for itself alone.
	use      sync.RWMutex
	promises promises
	sweep    sweeper
	used     func() ([]ociregistry.Digest, error)
}

var _ ociregistry.Interface = (*Backend)(nil)

// New returns the images in the folder dir, which need not exist. Those of a durable one survive power failures.
func New(dir string, durable bool) *Backend {
	return &Backend{dir: dir, durable: durable}
}

// Uses has sweeps ask which manifests containers run. One that gets no answer removes nothing. It is called before the
// first request.
func (b *Backend) Uses(used func() ([]ociregistry.Digest, error)) { b.used = used }

func (b *Backend) uploads() string { return filepath.Join(b.dir, "uploads") }

// begin makes a file that becomes visible by [Backend.publish].
func (b *Backend) begin() (*os.File, error) {
	if err := os.MkdirAll(b.uploads(), 0o700); err != nil {
		return nil, told(err)
	}
	f, err := os.CreateTemp(b.uploads(), "")
	return f, told(err)
}

// publish gives a file that begin has made its place. It closes the file, and removes it when it cannot be had there.
func (b *Backend) publish(f *os.File, path string) (err error) {
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = told(err)
		}
	}()
	if b.durable {
		if err := f.Sync(); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return b.syncFolders(filepath.Dir(path))
}

// syncFolders makes names durable, up to the folder of all images.
func (b *Backend) syncFolders(dir string) error {
	if !b.durable {
		return nil
	}
	for ; len(dir) >= len(b.dir); dir = filepath.Dir(dir) {
		f, err := os.Open(dir)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return nil
}

// write puts data into a file, whole or not at all.
func (b *Backend) write(path string, data []byte) error {
	f, err := b.begin()
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return told(errors.Join(err, f.Close(), os.Remove(f.Name())))
	}
	return b.publish(f, path)
}

// writeDescriptor notes a descriptor.
func (b *Backend) writeDescriptor(path string, d ociregistry.Descriptor) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return b.write(path, data)
}

// readDescriptor reads what writeDescriptor has written. What is not there is fs.ErrNotExist.
func readDescriptor(path string) (ociregistry.Descriptor, error) {
	var d ociregistry.Descriptor
	data, err := os.ReadFile(path)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return d, nil
}

// touch notes that a file is of use. That it cannot be noted is no reason not to use it.
func touch(path string) {
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) < fresh/4 {
		return
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

// told marks errors of a full disk.
func told(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// absent says whether err is that a file is not there.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

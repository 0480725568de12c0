// Copyright 2026 The democrd authors
// SPDX-License-Identifier: Apache-2.0

// Package registry keeps entries outside of the cluster, as files in a folder. To the operator it is what a record in a
// DNS or a bucket in a cloud would be: no garbage collector of Kubernetes knows it.
package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/apimachinery/pkg/types"
)

// Folder is the folder with all entries.
type Folder string

// Put makes the owner's entry, or changes it if it differs. Again, it changes nothing. The entry is a file named by the
// UID, which no other owner ever has, not even a later one of the same name.
func (f Folder) Put(_ context.Context, owner types.UID, entry string) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return fmt.Errorf("make the registry: %w", err)
	}
	folder, err := os.OpenRoot(string(f)) // no link in it leads elsewhere
	if err != nil {
		return fmt.Errorf("open the registry: %w", err)
	}
	defer folder.Close()
	want := []byte(entry + "\n")
	have, err := folder.ReadFile(string(owner))
	if err == nil && bytes.Equal(have, want) {
		return nil
	}
	if err := folder.WriteFile(string(owner), want, 0o600); err != nil {
		return fmt.Errorf("write the entry: %w", err)
	}
	return nil
}

// Remove removes the owner's entry. There may be none: it was removed before.
func (f Folder) Remove(_ context.Context, owner types.UID) error {
	folder, err := os.OpenRoot(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the registry: %w", err)
	}
	defer folder.Close()
	if err := folder.Remove(string(owner)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the entry: %w", err)
	}
	return nil
}

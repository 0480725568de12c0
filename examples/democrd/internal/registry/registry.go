// Copyright 2026 The democrd authors
// SPDX-License-Identifier: Apache-2.0

// Package registry keeps entries outside of the cluster, as files in a folder. To the operator it is what a record in a DNS
// or a bucket in a cloud would be: no garbage collector of Kubernetes knows it.
package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"
)

// Folder is the folder with all entries.
type Folder string

// Put makes the owner's entry, or changes it if it differs. Again, it changes nothing.
func (f Folder) Put(_ context.Context, owner types.UID, entry string) error {
	want := []byte(entry + "\n")
	have, err := os.ReadFile(f.of(owner))
	if err == nil && bytes.Equal(have, want) {
		return nil
	}
	if err = os.MkdirAll(string(f), 0o755); err == nil {
		err = os.WriteFile(f.of(owner), want, 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the entry: %w", err)
	}
	return nil
}

// Remove removes the owner's entry. There may be none: it was removed before.
func (f Folder) Remove(_ context.Context, owner types.UID) error {
	if err := os.Remove(f.of(owner)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the entry: %w", err)
	}
	return nil
}

// of is a file that no other owner ever has, not even a later one of the same name.
func (f Folder) of(owner types.UID) string { return filepath.Join(string(f), string(owner)) }

// Copyright 2026 The democrd authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"os"
	"path/filepath"
	"testing"
)

// A link that waits under an entry's name is not followed out of the folder.
func TestLink(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := Folder(t.TempDir())
	if err := os.Symlink(outside, filepath.Join(string(folder), "owner")); err != nil {
		t.Skip("no links here:", err)
	}
	if err := folder.Put(t.Context(), "owner", "entry"); err == nil {
		t.Error("the entry was written through a link")
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "kept" {
		t.Errorf("outside of the folder there is %q: %v", data, err)
	}
	if err := folder.Remove(t.Context(), "owner"); err != nil {
		t.Errorf("the link is not removed: %v", err)
	}
}

// What does not exist is removed already.
func TestRemoveNothing(t *testing.T) {
	t.Parallel()
	for _, folder := range []Folder{Folder(t.TempDir()), Folder(filepath.Join(t.TempDir(), "none"))} {
		if err := folder.Remove(t.Context(), "owner"); err != nil {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

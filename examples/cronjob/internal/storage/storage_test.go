// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFolder(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	f := Folder(filepath.Join(dir, "all"))
	at := time.Date(2050, time.January, 1, 1, 0, 0, 0, time.UTC)
	for range 2 { // all of it may be repeated
		want(t, f.Create(ctx, "a"), f.Create(ctx, "b"))
		want(t, f.Record(ctx, "a", "hourly-2524611600", at), f.Record(ctx, "b", "other", at))
		got, err := os.ReadFile(filepath.Join(dir, "all", "a", "hourly-2524611600"))
		want(t, err)
		if string(got) != "2050-01-01T01:00:00Z\n" {
			t.Errorf("recorded %q", got)
		}
	}
	for range 2 {
		want(t, f.Delete(ctx, "a"))
		left, err := os.ReadDir(filepath.Join(dir, "all"))
		want(t, err)
		if len(left) != 1 || left[0].Name() != "b" {
			t.Errorf("left: %v, want b alone", left)
		}
	}
}

func TestFolderCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	want(t, os.WriteFile(file, nil, 0o644))
	if err := Folder(file).Create(t.Context(), "a"); err == nil {
		t.Error("a folder in a file is no mistake")
	}
	if err := Folder(file).Record(t.Context(), "a", "run", time.Now()); err == nil {
		t.Error("a run recorded in a file is no mistake")
	}
}

func want(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

// Package storage keeps, outside of the cluster, a folder for each CronJob with a file for each of its runs: a record
// that stays when old Jobs are deleted, and goes with its CronJob. To the operator it is what a bucket in a cloud would
// be, something that the operator alone deletes.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Folder is the folder that holds all others.
type Folder string

// Create makes the owner's folder. It may exist already.
func (f Folder) Create(_ context.Context, owner types.UID) error {
	if err := os.MkdirAll(f.of(owner), 0o755); err != nil {
		return fmt.Errorf("create the storage: %w", err)
	}
	return nil
}

// Record notes a run of the owner's and the time for which it was scheduled. Doing so again changes nothing.
func (f Folder) Record(ctx context.Context, owner types.UID, run string, at time.Time) error {
	if err := f.Create(ctx, owner); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(f.of(owner), run), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = fmt.Fprintln(file, at.UTC().Format(time.RFC3339))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("record run %s: %w", run, err)
	}
	return nil
}

// Delete removes the owner's folder with all that is in it. There may be none: it was deleted before.
func (f Folder) Delete(_ context.Context, owner types.UID) error {
	if err := os.RemoveAll(f.of(owner)); err != nil {
		return fmt.Errorf("delete the storage: %w", err)
	}
	return nil
}

// of is a folder that no other owner ever has, not even one of the same name.
func (f Folder) of(owner types.UID) string { return filepath.Join(string(f), string(owner)) }

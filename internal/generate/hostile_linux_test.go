package generate_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestNoSpace: with no room for all files, none is written.
func TestNoSpace(t *testing.T) {
	dir := wideProject(t)
	mount(t, filepath.Join(dir, "config"), 0)
	failsWith(t, dir, syscall.ENOSPC)
}

// TestReadOnly: nothing is written when one of the folders cannot be written to.
func TestReadOnly(t *testing.T) {
	dir := wideProject(t)
	mount(t, filepath.Join(dir, "config"), unix.MS_RDONLY)
	failsWith(t, dir, syscall.EROFS)
}

// wideProject has a CRD of more than 64 KiB.
func wideProject(t *testing.T) string {
	t.Helper()
	dir := project(t)
	var fields strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&fields, "\t// F%d is one of many texts.\n\tF%d string `json:\"f%d\"`\n", i, i, i)
	}
	write(t, dir, "api/v1/types.go", apiHead+kind(fields.String()))
	write(t, dir, "config/readme.txt", "")
	return dir
}

// mount puts a file system of 64 KiB at dir.
func mount(t *testing.T, dir string, flags uintptr) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, "size=64k"); err != nil {
		t.Skip("file systems cannot be mounted: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func failsWith(t *testing.T, dir string, want error) {
	t.Helper()
	result, err := endIn(t, dir)
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	result.Findings = append(result.Findings, report.Finding{Fatal: true})
	noLeftovers(t, dir, result)
}

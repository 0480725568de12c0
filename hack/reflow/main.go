// Command reflow breaks lines of prose anew, in Go comments and Markdown, where one has more than 120 columns. It
// changes no word, and leaves alone what package prose lists: code, tables, markers, generated files.
//
//	reflow             all files of the current folder and below, but for test data
//	reflow docs a.go   these files and folders
//
// It prints the files that it changes. A second run changes none.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/prose"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reflow:", err)
		os.Exit(1)
	}
}

// run breaks the prose of files and of folders, by default of the current one.
func run(paths []string, stdout io.Writer) error {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, path := range paths {
		files, err := prose.Files(path)
		if err != nil {
			return err
		}
		for _, file := range files {
			changed, err := reflow(file)
			if err != nil {
				return err
			}
			if changed {
				fmt.Fprintln(stdout, file)
			}
		}
	}
	return nil
}

// errFormat is that breaking lines is not all that a file needs.
var errFormat = errors.New("gofmt would change the comments again; break them by hand")

// reflow breaks the prose of one file, and reports whether that changes it.
func reflow(file string) (changed bool, err error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	out, err := prose.Reflow(file, src)
	if err != nil || bytes.Equal(out, src) {
		return false, err
	}
	if filepath.Ext(file) == ".go" && !formatted(out) && formatted(src) {
		return false, fmt.Errorf("%s: %w", file, errFormat)
	}
	info, err := os.Stat(file)
	if err != nil {
		return false, err
	}
	return true, os.WriteFile(file, out, info.Mode().Perm())
}

// formatted reports whether gofmt would leave a source as it is.
func formatted(src []byte) bool {
	out, err := format.Source(src)
	return err == nil && bytes.Equal(out, src)
}

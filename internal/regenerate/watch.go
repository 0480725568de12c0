package regenerate

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/filewatch"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// quiet is how long files must stay unchanged before a change counts: editors and git write several files at once.
const quiet = 100 * time.Millisecond

// Watch calls changed whenever files of the project that a generator may read have changed, until ctx ends. Headers
// returns the header files that generators read. It is called again after each change, since the Makefile may name
// others. Ready is called once all folders are watched. All calls are in the caller's goroutine. Files that change
// while changed runs, such as its output, cause another call. The handler receives what package filewatch reports.
func Watch(ctx context.Context, root string, headers func() []string, handler report.Handler, ready, changed func()) error {
	var named []string
	return filewatch.Watch(ctx, filewatch.Options{
		Folders: func() []filewatch.Folder {
			named = headers()
			return []filewatch.Folder{{Path: root, Below: true}}
		},
		Skip:    func(folder string) bool { return skipped(filepath.Base(folder)) },
		Matters: func(file string) bool { return read(filepath.Base(file), named) },
		Quiet:   quiet,
		Handler: handler,
	}, ready, func([]string) { changed() })
}

// read reports whether a generator may read a file of that name.
func read(name string, headers []string) bool {
	switch {
	case skipped(name):
		return false
	case strings.HasSuffix(name, ".go"):
		return !strings.HasSuffix(name, "_test.go")
	case filepath.Ext(name) == "":
		return true // Makefile, PROJECT
	}
	return slices.Contains([]string{"go.mod", "go.sum", "go.work", path.Base(codebase.HeaderFile)}, name) ||
		slices.ContainsFunc(headers, func(header string) bool { return path.Base(header) == name })
}

// skipped reports whether to skip a folder: it has no code, or holds the Makefile's tools, which change often.
func skipped(name string) bool { return sourcefolder.WithoutCode(name) || name == "bin" }

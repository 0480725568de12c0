package repotest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readers are the parts, and the files of other parts, that read with package os, and why that ends. All else reads
// with package safefs or kustomizefs.
var readers = map[string]string{
	"internal/safefs/regular.go":                    "it looks at what kind of file it is, and at its size, first",
	"internal/download/archive.go":                  "a file in the user's cache, as long as it was allowed to become",
	"internal/release/unpack.go":                    "an archive in the user's cache",
	"internal/program":                              "sources and caches of slipway itself",
	"internal/gocommand":                            "the Go installation's own files",
	"internal/setupenvtest":                         "folders that slipway itself fills",
	"internal/addon/sources.go":                     "its own files in the user's cache",
	"internal/clusterctl":                           "states of clusters, and the configuration that the user names",
	"internal/image":                                "its own store, and archives that the user names; compile looks at a project's files first",
	"internal/userdirs/mark.go":                     "a regular file of this user's, in a folder that no other user may write to",
	"internal/safefs/atomic_unix.go":                "the folder of a file that slipway has just written",
	"internal/dev/texts.go":                         "the program that was compiled a moment ago",
	"internal/dev/promise.go":                       "a file in the user's cache",
	"internal/process/session_linux.go":             "files of /proc",
	"internal/operation/projects/license.go":        "a file that the user names, which may be a pipe",
	"internal/codegen/kubernetes/world.go":          "a file that the program itself has just written",
	"internal/codegen/remember.go":                  "an answer in the user's cache",
	"internal/crdcheck/memory.go":                   "an answer in the user's cache",
	"internal/typecheck/memory.go":                  "a memory in the user's cache",
	"internal/typecheck/exports.go":                 "a package in Go's build cache",
	"internal/fileview":                             "it looks at what kind of file it is first",
	"internal/regenerate/leftover.go":               "the head of a regular file",
	"internal/scaffold/internal/transaction/key.go": "a key in the user's configuration",
	"internal/repotest":                             "this repository's own files",
	"internal/operation/proving/exec.go":            "the logs of programs that it has started",
	"internal/operation/proving/processlog.go":      "the logs of processes that it has started",
	"internal/prove/cpu_linux.go":                   "figures of the kernel",
	"internal/generate/output.go":                   "a regular file that is as long as what is to be written",
	"internal/generate/internal/inputs":             "it looks at what kind of file it is, and at its size, first; memories are in the user's cache",
}

// TestProjectsAreReadToAnEnd: a file of a project may be a link to one that has no end, or a pipe.
func TestProjectsAreReadToAnEnd(t *testing.T) {
	var used []string
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.dir, "internal/") && p.dir != "project" {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, p.dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") || !strings.Contains(string(text), "os.ReadFile(") && !strings.Contains(string(text), "os.Open(") {
				continue
			}
			name := p.dir + "/" + filepath.Base(file)
			part := reader(name)
			if part == "" {
				t.Errorf("%s reads with package os: use internal/safefs for files of projects, or give the reason here", name)
			}
			used = append(used, part)
		}
	}
	for part := range readers {
		if !slices.Contains(used, part) {
			t.Errorf("%s does not read with package os", part)
		}
	}
}

// reader is the entry of readers for a file.
func reader(name string) string {
	for part := range readers {
		if name == part || strings.HasPrefix(name, part+"/") {
			return part
		}
	}
	return ""
}

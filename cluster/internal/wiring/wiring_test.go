// Package wiring_test watches the upstream files that our wiring stands for.
//
// Some files of this module do what a file of Kubernetes or etcd does: they wire the same parts together, with other
// settings. When upstream changes there, a new default, a controller split in two, nothing here fails to compile and
// ours has become different by standing still. So such a file names its counterpart in a comment ("Upstream:
// cmd/kube-controller-manager/app/apps.go."), and upstream.sum holds the hash of every file that is named anywhere.
// After an upgrade this test tells which have changed and what to compare; once our side has been looked at, the new
// state is recorded:
//
//	go test ./internal/wiring -update
package wiring_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "record upstream's files as they are now")

const (
	root    = "../.." // of the module
	sumFile = "upstream.sum"
)

func TestUpstreamCounterpartsAreAsRecorded(t *testing.T) {
	u := newUpstream(t)
	counterparts, unknown := find(t, u)
	for _, u := range unknown {
		t.Error(u)
	}
	now := record{versions: map[string]string{}, sums: map[string]string{}}
	for file := range counterparts {
		now.sums[file] = u.sum(t, file)
		now.versions[u.module(file)] = u.version(u.module(file))
	}
	if *update {
		now.write(t)
		return
	}
	before := readRecord(t)
	for _, file := range slices.Sorted(maps.Keys(now.sums)) {
		switch old, ok := before.sums[file]; {
		case !ok:
			t.Errorf("%s, the counterpart of %s, is not in %s: record it with -update", file, list(counterparts[file]), sumFile)
		case old != now.sums[file]:
			t.Errorf("%s has changed, and %s must follow it where that matters. Compare:\n\tgit diff --no-index %s %s\n"+
				"then record it with -update", file, list(counterparts[file]), u.path(file, before.versions[u.module(file)]), u.path(file, now.versions[u.module(file)]))
		}
	}
	for file := range before.sums {
		if _, ok := now.sums[file]; !ok {
			t.Errorf("no comment names %s any more: record that with -update", file)
		}
	}
}

func list(files []string) string { return strings.Join(files, " and ") }

// find looks through the comments of this module. It returns the files here that name a file of upstream, by that, and
// what is named and exists nowhere.
func find(t *testing.T, u *upstream) (counterparts map[string][]string, unknown []string) {
	t.Helper()
	counterparts = map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		ours, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files, strange, err := named(path, u)
		for _, file := range files {
			if name := filepath.ToSlash(ours); !slices.Contains(counterparts[file], name) {
				counterparts[file] = append(counterparts[file], name)
			}
		}
		for _, s := range strange {
			unknown = append(unknown, fmt.Sprintf("%s names %s, which upstream does not have", ours, s))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(counterparts) == 0 {
		t.Fatal("no file names its counterpart")
	}
	return counterparts, unknown
}

// A record is what was looked at last.
type record struct {
	versions map[string]string // by module
	sums     map[string]string // by module and path
}

func (r record) write(t *testing.T) {
	t.Helper()
	var b bytes.Buffer
	for _, module := range slices.Sorted(maps.Keys(r.versions)) {
		fmt.Fprintf(&b, "module %s %s\n", module, r.versions[module])
	}
	for _, file := range slices.Sorted(maps.Keys(r.sums)) {
		fmt.Fprintf(&b, "%s %s\n", r.sums[file], file)
	}
	if err := os.WriteFile(sumFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readRecord(t *testing.T) record {
	t.Helper()
	data, err := os.ReadFile(sumFile)
	if err != nil {
		t.Fatal(err)
	}
	r := record{versions: map[string]string{}, sums: map[string]string{}}
	for line := range strings.Lines(string(data)) {
		switch fields := strings.Fields(line); {
		case len(fields) == 3 && fields[0] == "module":
			r.versions[fields[1]] = fields[2]
		case len(fields) == 2:
			r.sums[fields[1]] = fields[0]
		default:
			t.Fatalf("%s: not a line of this file: %q", sumFile, line)
		}
	}
	return r
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

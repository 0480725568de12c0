package references_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/references"
)

const tree = `
-- go.mod --
module example.com/op
-- api/go.mod --
module example.com/op/types
-- api/v1/job_types.go --
package v1

type Job struct{}

func init() { register(&Job{}) }
-- api/v1/info.go --
package v1

func register(any) {}
-- api/v1/zz_generated.deepcopy.go --
package v1

func (j *Job) DeepCopy() *Job { return nil }
-- internal/alone.go --
package internal

type Alone struct{}
-- internal/alone_test.go --
package internal_test

import . "example.com/op/internal"

var _ Alone
-- internal/named.go --
package internal

import jobs "example.com/op/types/v1"

func f() {
	x := jobs.Job{}
}
-- cmd/main.go --
package main

import "example.com/op/types/v1"

// v1.Job in a comment, and another package's Job:
func main() {
	v2.Job()
	v1 := other()
	v1.Job()
}
-- hooks/job.go --
package hooks

func (j *Job) Setup() {}
-- hooks/ship.go --
package hooks

func (s *Ship) Setup() {}
-- hooks/types.go --
package hooks

type (
	Job  struct{}
	Ship struct{}
	Boat struct{}
	Raft struct{}
)
-- hooks/boat.go --
package hooks

func (b *Boat) Launch() {}
-- hooks/raft.go --
package hooks

func (r *Raft) Sink() {}
-- hooks/tug.go --
package hooks

func (j *Job) Sink() {}
-- hooks/suite_test.go --
package hooks

func all(of interface{ Launch() }) {
	(&Ship{}).Setup()
	of.Launch()
	n, raft := 1, &Raft{}
	raft.Sink()
}
-- broken.go --
package
-- vendor/x/x.go --
package x

import "example.com/op/types/v1"

var _ v1.Job
`

func read(t *testing.T) *references.Sources {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(tree)).Files {
		name := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := references.Read(plan.Reading(fileview.Disk(root)).Code())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOf(t *testing.T) {
	s := read(t)
	for _, test := range []struct {
		file    string
		leaving map[string]bool
		want    string
	}{
		{"api/v1/job_types.go", nil, "internal/named.go:6"},
		{"api/v1/job_types.go", map[string]bool{"internal/named.go": true}, ""},
		{"api/v1/info.go", nil, "api/v1/job_types.go:5"},
		{"internal/alone.go", nil, "internal/alone_test.go:5"},
		{"internal/named.go", nil, ""},
		{"cmd/main.go", nil, ""},
		{"hooks/job.go", nil, ""},
		{"hooks/ship.go", nil, "hooks/suite_test.go:4"},
		{"hooks/boat.go", nil, "hooks/suite_test.go:5"},
		{"hooks/raft.go", nil, "hooks/suite_test.go:7"},
		{"hooks/tug.go", nil, ""},
		{"broken.go", nil, ""},
		{"not/there.go", nil, ""},
	} {
		if got, _ := s.Of(test.file, test.leaving); got != test.want {
			t.Errorf("%s, leaving %v: used at %q, want %q", test.file, test.leaving, got, test.want)
		}
	}
	s.Set("internal/named.go", []byte("package internal\n"))
	if got, used := s.Of("api/v1/job_types.go", nil); used {
		t.Errorf("after the use is gone: %s", got)
	}
}

func TestDangling(t *testing.T) {
	before := "package a\n\nimport (\n\t\"x/b\"\n\tc \"x/d\"\n)\n\nvar _ = b.X + c.Y\n"
	for after, want := range map[string]int{
		before: 0,
		"package a\n\nimport c \"x/d\"\n\nvar _ = c.Y\n":            0,
		"package a\n\nimport c \"x/d\"\n\nvar _ = b.X + c.Y\n":      5,
		"package a\n\nimport \"x/b\"\n\nfunc f(c T) { _ = c.Y }\n":  0,
		"package a\n\nimport \"x/b\"\n\nfunc f() {\n\t_ = c.Y\n}\n": 6,
		"package": 0,
	} {
		if got := references.Dangling([]byte(before), []byte(after)); got != want {
			t.Errorf("%q: line %d, want %d", after, got, want)
		}
	}
}

package project

import (
	"strings"
	"testing"
)

// earlierMajor is a project that moved to a new major version, with its old path in PROJECT.
const earlierMajor = `domain: example.com
layout:
- go.kubebuilder.io/v3
projectName: op
repo: example.com/op
resources:
- api:
    crdVersion: v1
  domain: example.com
  group: batch
  kind: CronJob
  path: example.com/op/api/v1
  version: v1
- api:
    crdVersion: v1
  domain: example.com
  group: batch
  kind: Job
  path: example.com/op/v5/api/v1
  version: v1
version: "3"
`

func TestInModule(t *testing.T) {
	p, err := Parse(FileName, []byte(earlierMajor))
	if err != nil {
		t.Fatal(err)
	}
	p.InModule("example.com/op/v5")
	for _, r := range p.Resources {
		if r.Path != "example.com/op/v5/api/v1" || p.APIDir(r) != "api/v1" {
			t.Errorf("%s: path %s in folder %s", r.Kind, r.Path, p.APIDir(r))
		}
	}
	if out, err := p.Marshal(); err != nil || string(out) != earlierMajor {
		t.Errorf("Marshal = %v\n%s", err, out)
	}
	p.Resources = append(p.Resources, Resource{Group: "batch", Version: "v1", Kind: "Run", Path: p.Repo + "/api/v1"})
	out, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	old := strings.TrimSuffix(earlierMajor, "version: \"3\"\n")
	if !strings.HasPrefix(string(out), old) || !strings.Contains(string(out), "kind: Run\n  path: example.com/op/v5/api/v1") {
		t.Errorf("Marshal after an addition:\n%s", out)
	}
}

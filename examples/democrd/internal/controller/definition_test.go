// Copyright 2026 The democrd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest"

	examplev1 "example.com/democrd/api/v1"
)

// What users of kubectl see and what is refused is the same whether the definition was written by hand or generated.
func TestDefinitions(t *testing.T) {
	for name, definition := range map[string]string{"by hand": "testdata/by_hand.yaml", "generated": "../../config/crd/bases"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster.Cluster(t).Isolated(t)
			c.InstallCRDs(t, definition)
			shell{t, c}.useDemos()
		})
	}
}

// shell is a user's.
type shell struct {
	*testing.T
	cluster *clustertest.Cluster
}

// useDemos creates, lists, explains and breaks a Demo.
func (s shell) useDemos() {
	s.want("created", "create", "--filename", "../../config/samples/example_v1_demo.yaml")
	s.want("CR-NAME", "get", "demos")
	for _, name := range []string{"demos", "demo", "dm", "demos.example.com"} {
		s.want("test", "get", name, "demo-sample")
	}
	s.want("demo.example.com/demo-sample", "get", "all")
	s.want("dm           example.com/v1", "api-resources", "--api-group=example.com")
	s.want("name\t<string>", "explain", "demo.spec")
	for patch, why := range map[string]string{
		`{"spec":{"name":"testing"}}`: "spec.name in body should match '^test$'",
		`{"spec":{"name":"a test"}}`:  "spec.name in body should match '^test$'",
		`{"spec":{"name":1}}`:         `spec.name in body must be of type string: "integer"`,
	} {
		s.refused(why, "patch", "dm", "demo-sample", "--type=merge", "--patch", patch)
	}
	s.refused(`unknown field "spec.nmae"`, "create", "--filename", "testdata/misspelt.yaml")
	s.want("deleted", "delete", "dm", "demo-sample")
}

// want checks that a command succeeds, and prints something.
func (s shell) want(text string, command ...string) {
	s.Helper()
	if out, err := s.cluster.Kubectl(s.T, command...); err != nil || !strings.Contains(out, text) {
		s.Errorf("kubectl %q prints %q, %v; want %q", command, out, err, text)
	}
}

// refused checks that a command fails, and that its user reads why.
func (s shell) refused(why string, command ...string) {
	s.Helper()
	if _, err := s.cluster.Kubectl(s.T, command...); err == nil || !strings.Contains(err.Error(), why) {
		s.Errorf("kubectl %q: %v, want %q", command, err, why)
	}
}

// What kubectl shows while the operator runs.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	demo := f.create("seen")
	f.waitFor(demo, examplev1.ReasonRegistered)
	for _, test := range []struct{ output, want string }{
		{"", "NAME CR-NAME REGISTERED AGE seen test True *"},
		{"wide", "NAME CR-NAME REGISTERED REASON AGE seen test True Registered *"},
	} {
		out, err := f.kubectl("get", "dm", "--output="+test.output)
		got := strings.Fields(out)
		if len(got) > 0 {
			got[len(got)-1] = "*" // its age
		}
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("get prints %q, %v; want %q", out, err, test.want)
		}
	}
	if out, err := f.kubectl("delete", "dm", "seen"); err != nil || !strings.Contains(out, `demo.example.com "seen" deleted`) { // it waits for the finalizer
		t.Errorf("delete prints %q, %v", out, err)
	}
	f.wantEntry(demo, "")
}

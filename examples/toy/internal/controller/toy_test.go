// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
)

// What kubectl shows of a Toy, and what is refused. There is no controller: all of this is the API server's work.
func TestToy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, err := f.kubectl("create", "--filename", "../../config/samples/batch_v1_toy.yaml"); err != nil {
		t.Fatal(err)
	}
	f.wantColumns("NAME ALIAS RANK AGE toy-sample Lion 1 *", "get", "toys")
	f.wantColumns("NAME ALIAS RANK AGE BRAVELY-RUN-AWAY toy-sample Lion 1 * Sir Robin", "get", "toys", "--output=wide")
	if out, err := f.kubectl("explain", "toy.spec.alias"); err != nil || !strings.Contains(out, "ENUM:\n    Lion\n    Wolf\n    Dragon") {
		t.Errorf("explain prints %q, %v", out, err)
	}
	for _, test := range []struct{ spec, want string }{
		{`{"rank":0}`, "spec.rank in body should be greater than or equal to 1"},
		{`{"rank":4}`, "spec.rank in body should be less than or equal to 3"},
		{`{"rank":null}`, "spec.rank: Required value"},
		{`{"name":""}`, "spec.name in body should be at least 1 chars long"},
		{`{"name":"sixteen letters-"}`, "may not be more than 15"},
		{`{"alias":"Sheep"}`, `spec.alias: Unsupported value: "Sheep": supported values: "Lion", "Wolf", "Dragon"`},
		{`{"rivals":["Wolf","Sheep"]}`, `spec.rivals[1]: Unsupported value: "Sheep"`},
		{`{"rivals":["Lion","Wolf","Dragon"]}`, "spec.rivals: Too many"},
		{`{"knights":[]}`, "spec.knights in body should have at least 1 items"},
		{`{"knights":["` + strings.Repeat(`x","`, 500) + `"]}`, "must have at most 500 items"},
		{`{"knights":[""]}`, "spec.knights[0] in body should be at least 1 chars long"},
		{`{"knights":["Sir Robin","Sir Robin"]}`, `spec.knights[1]: Duplicate value: "Sir Robin"`},
	} {
		f.wantRefused(test.want, "patch", "toy", "toy-sample", "--type=merge", "--patch", `{"spec":`+test.spec+`}`)
	}
}

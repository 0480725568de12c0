package codebase_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLicense: generators name the header files of their code, the usual one stands for those who name none.
func TestLicense(t *testing.T) {
	const usual, own = "hack/boilerplate.go.txt", "-- Makefile --\na:\n\tcd hack && controller-gen object:headerFile=\"own.txt\",year=2026 crd:headerFile=crd.txt paths=./...\n"
	for _, test := range []struct {
		name, files string
		headers     []string
		header      string
		text        string
	}{
		{"none", "", nil, "", ""},
		{"the usual one", "-- " + usual + " --\n", []string{usual}, usual, ""},
		{"one that is named", own + "-- hack/own.txt --\n// Copyright YEAR me\n", []string{"hack/own.txt"}, "hack/own.txt", "// Copyright 2026 me\n"},
		{"both", own + "-- hack/own.txt --\n// Copyright YEAR me\n-- " + usual + " --\n", []string{"hack/own.txt", usual}, "hack/own.txt", "// Copyright 2026 me\n"},
		{"one that is missing", own + "-- " + usual + " --\n", []string{"hack/own.txt", usual}, usual, ""},
		{"none is named", "-- Makefile --\na:\n\tcontroller-gen object paths=./...\n-- " + usual + " --\n", []string{usual}, usual, ""},
		{"an absolute one", "-- Makefile --\na:\n\tcontroller-gen object:headerFile=/own.txt paths=./...\n", []string{"/own.txt"}, "", ""},
	} {
		code := read(unpacked(t, test.files))
		headers, err := code.Headers()
		license, failed := code.License()
		if diff := cmp.Diff(test.headers, headers); diff != "" || license.File != test.header || license.Text != test.text || err != nil || failed != nil {
			t.Errorf("%s: the header is %+v of %s; %v, %v", test.name, license, diff, err, failed)
		}
	}
}

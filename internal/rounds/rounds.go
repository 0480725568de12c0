// Package rounds decides how often a test repeats what is drawn at random, and which tests run at all: few in
// `make check`, which runs after each change, and all that there are in `make test` and in a plain go test.
package rounds

import (
	"os"
	"testing"
)

// Few is the variable that `make check` sets. Scripts of the command know it as the condition `thorough`.
const Few = "FEW_ROUNDS"

// Of returns all, or few in `make check`. It is asked by a running test, not by a variable of a package: go test takes
// a cached result only where the variables are the same that a running test has read.
func Of(t testing.TB, all, few int) int {
	t.Helper()
	if os.Getenv(Few) != "" {
		return few
	}
	return all
}

// Thorough skips a test in `make check`. Such a test compiles programs, and a cheaper one shows there what it shows.
func Thorough(t testing.TB) {
	t.Helper()
	if os.Getenv(Few) != "" {
		t.Skip("make test does it")
	}
}

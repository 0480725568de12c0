// Package rounds decides how often a test repeats what is drawn at random, and which tests run at all: few with -short,
// as `make check` and `make test` have it, and all in a plain go test and in the long tests.
package rounds

import (
	"os"
	"testing"
)

// Few is the variable that `make check` sets. Scripts of the command know it as the condition `thorough`.
const Few = "FEW_ROUNDS"

// Of returns all, or few with -short.
func Of(all, few int) int {
	if testing.Short() {
		return few
	}
	return all
}

// Thorough skips a test in `make check`. Such a test compiles programs, and a cheaper one shows there what it shows.
// It asks a variable in a running test: go test takes a cached result only where that is the same.
func Thorough(t testing.TB) {
	t.Helper()
	if os.Getenv(Few) != "" {
		t.Skip("make test does it")
	}
}

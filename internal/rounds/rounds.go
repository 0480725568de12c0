// Package rounds decides how often a test repeats what is drawn at random: a few times in `make check`, which runs
// after each change, and as often as the test asks for in `make test` and in a plain go test.
package rounds

import (
	"os"
	"testing"
)

// Few is the variable that `make check` sets.
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

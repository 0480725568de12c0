package setupenvtest

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// Kubernetes is the version that the cluster program embeds. A test compares it with the program's source.
const Kubernetes = "1.37.1"

// Skew is how many minor versions the embedded one stands in for, besides its own.
const Skew = 3

// Version is a released version of Kubernetes.
type Version struct{ Major, Minor, Patch int }

// String is like 1.37.1.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Compare is negative when v is older than w.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

const number = `(0|[1-9]\d{0,8})`

var versionSyntax = lazy.Regexp(`^` + number + `\.` + number + `\.` + number + `$`)

func parseVersion(s string) (v Version, ok bool) {
	m := versionSyntax().FindStringSubmatch(s)
	if m == nil {
		return v, false
	}
	return Version{atoi(m[1]), atoi(m[2]), atoi(m[3])}, true
}

// atoi reads what matched number, which every int holds.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// embedded is [Kubernetes] in parts.
func embedded() Version {
	v, _ := parseVersion(Kubernetes) // a test reads it
	return v
}

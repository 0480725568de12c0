package setupenvtest

import (
	"runtime"
	"strings"
)

// Platform is what programs run on, in Go's words. Either part may be * to match all, where a command allows that.
type Platform struct{ OS, Arch string }

// Host is the platform of this process.
func Host() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

// String is like linux/amd64.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

func (p Platform) wild() bool { return p.OS == "*" || p.Arch == "*" }

// empty tells whether a part is missing.
func (p Platform) empty() bool { return p.OS == "" || p.Arch == "" }

func (p Platform) matches(q Platform) bool {
	return (p.OS == "*" || p.OS == q.OS) && (p.Arch == "*" || p.Arch == q.Arch)
}

// An Item is what one folder of a store holds.
type Item struct {
	Version
	Platform
}

// String is like 1.37.1 (linux/amd64).
func (i Item) String() string { return i.Version.String() + " (" + i.Platform.String() + ")" }

// folder is the name of the item's folder.
func (i Item) folder() string { return i.Version.String() + "-" + i.OS + "-" + i.Arch }

// parseItem reads the name of a folder.
func parseItem(folder string) (i Item, ok bool) {
	parts := strings.Split(folder, "-")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return i, false
	}
	i.Version, ok = parseVersion(parts[0])
	i.Platform = Platform{parts[1], parts[2]}
	return i, ok
}

// compareItems puts the newest version first, and one version's platforms in alphabetical order.
func compareItems(a, b Item) int {
	if order := b.Compare(a.Version); order != 0 {
		return order
	}
	return strings.Compare(a.Platform.String(), b.Platform.String())
}

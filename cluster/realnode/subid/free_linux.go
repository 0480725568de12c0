package subid

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/moby/sys/user"
)

// ErrTaken says that no range of ids is free.
var ErrTaken = errors.New("this system has no free range of user and group ids")

// end is the id behind a range, also of one that a file gives more ids than there are.
func (r Range) end() int { return r.First + min(r.Count, maxIDs-r.First) }

// maxIDs is how many ids there are.
const maxIDs = 1 << 32

// Overlaps says whether a range has an id that one of others has.
func (r Range) Overlaps(others []Range) bool {
	for _, o := range others {
		if r.First < o.end() && o.First < r.end() {
			return true
		}
	}
	return false
}

// Reserved are the ids that belong to users by the files of a system below root: users, groups, and what is set
// aside for them.
func Reserved(root string) (all []Range, err error) {
	etc := func(name string) string { return filepath.Join(root, "etc", name) }
	setAside := func(s user.SubID) bool {
		all = append(all, Range{int(s.SubID), int(s.Count)})
		return false
	}
	_, subuid := user.ParseSubIDFileFilter(etc("subuid"), setAside)
	_, subgid := user.ParseSubIDFileFilter(etc("subgid"), setAside)
	users, passwd := user.ParsePasswdFile(etc("passwd"))
	groups, group := user.ParseGroupFile(etc("group"))
	for _, err := range []error{subuid, subgid, passwd, group} {
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("find out which ids are taken: %w", err)
		}
	}
	for _, u := range users {
		all = append(all, Range{u.Uid, 1})
	}
	for _, g := range groups {
		all = append(all, Range{g.Gid, 1})
	}
	return all, nil
}

// Running are the ids of the processes in a folder like /proc: those of users that no file names, and of other
// namespaces.
func Running(proc string) ([]Range, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, fmt.Errorf("find out which ids are taken: %w", err)
	}
	var all []Range
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // it has ended
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			all = append(all, Range{int(s.Uid), 1}, Range{int(s.Gid), 1})
		}
	}
	return all, nil
}

// Free returns the first range of count ids from within that has none of those that are taken. It looks at number, then
// at those that follow, and then at those before.
func Free(within Range, count, number int, taken []Range) (Range, error) {
	n := within.Count / count
	for i := range n {
		r := Range{within.First + (number+i)%n*count, count}
		if !r.Overlaps(taken) {
			return r, nil
		}
	}
	return Range{}, fmt.Errorf("%w: each of the %d from %d on has ids of users, by /etc/subuid, /etc/subgid, /etc/passwd, /etc/group or their processes; "+
		"reserve fewer ids there, or start the cluster as an ordinary user", ErrTaken, n, within.First)
}

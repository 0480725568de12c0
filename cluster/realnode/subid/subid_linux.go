package subid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/moby/sys/user"
)

// IDs are those of a user, with the programs that give them.
type IDs struct {
	users, groups     Range
	toUsers, toGroups string // paths of programs
}

// Range is a range of ids.
type Range struct{ First, Count int }

// Wanted is how many ids a namespace gets besides root's: with it there are as many as images count on.
const Wanted = 1<<16 - 1

// ErrNone says that the system has set no ids aside for this user, or does not give them.
var ErrNone = errors.New("this user has no subordinate ids")

// Find finds this user's.
func Find() (IDs, error) {
	var ids IDs
	var err error
	if ids.toUsers, err = program("newuidmap"); err != nil {
		return IDs{}, err
	}
	if ids.toGroups, err = program("newgidmap"); err != nil {
		return IDs{}, err
	}
	if ids.users, err = set("/etc/subuid"); err != nil {
		return IDs{}, err
	}
	ids.groups, err = set("/etc/subgid")
	return ids, err
}

func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNone, err)
	}
	return path, nil
}

// set is what a file has for this user.
func set(file string) (Range, error) {
	r, err := Largest(file, os.Getuid(), userName(os.Getuid()))
	if err != nil {
		return Range{}, fmt.Errorf("%w: %w", ErrNone, err)
	}
	if r.Count < Wanted {
		return Range{}, fmt.Errorf("%w: %s has %d for user %d, and %d are needed", ErrNone, file, r.Count, os.Getuid(), Wanted)
	}
	return r, nil
}

// subIDLine matches name:first:count, as subuid(5) has it.
var subIDLine = regexp.MustCompile(`^[^:\n]+:\d+:\d+\n?$`)

// Largest returns the largest range that a file like /etc/subuid has for a user, by name or number.
func Largest(file string, uid int, name string) (largest Range, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return largest, err
	}
	var lines bytes.Buffer // the library takes other text for 0, and newuidmap refuses such lines
	for line := range bytes.Lines(text) {
		if subIDLine.Match(line) {
			lines.Write(line)
		}
	}
	_, err = user.ParseSubIDFilter(&lines, func(s user.SubID) bool {
		if s.Name != "" && (s.Name == name || s.Name == strconv.Itoa(uid)) && int(s.Count) > largest.Count {
			largest = Range{int(s.SubID), int(s.Count)}
		}
		return false
	})
	return largest, err
}

// userName is empty for a user without a name.
func userName(uid int) string {
	u, _ := user.LookupUid(uid)
	return u.Name
}

// Give gives them to the user namespace of a process.
func (i IDs) Give(ctx context.Context, pid int) error {
	return errors.Join(
		give(ctx, i.toUsers, pid, os.Getuid(), i.users),
		give(ctx, i.toGroups, pid, os.Getgid(), i.groups),
	)
}

// give makes own the namespace's root, and the ids of the range those above.
func give(ctx context.Context, program string, pid, own int, r Range) error {
	args := []string{strconv.Itoa(pid)}
	for _, n := range []int{0, own, 1, 1, r.First, Wanted} {
		args = append(args, strconv.Itoa(n))
	}
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s: %w: %s%s", ErrNone, program, err, bytes.TrimSpace(out), powerless(program))
	}
	return nil
}

// powerless adds what a program lacks that cannot do what it is for.
func powerless(program string) string {
	info, err := os.Stat(program)
	if err != nil || info.Mode()&os.ModeSetuid != 0 {
		return ""
	}
	return " (unless the file has capabilities, it needs: sudo chmod u+s " + program + ")"
}

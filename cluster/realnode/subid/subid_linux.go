package subid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
	text, err := os.ReadFile(file)
	if err != nil {
		return Range{}, fmt.Errorf("%w: %w", ErrNone, err)
	}
	r := Largest(string(text), os.Getuid(), userName(os.Getuid()))
	if r.Count < Wanted {
		return Range{}, fmt.Errorf("%w: %s has %d for user %d, and %d are needed", ErrNone, file, r.Count, os.Getuid(), Wanted)
	}
	return r, nil
}

// Largest is the largest range that a file with lines of a user's name or number, a first id and a count has for a
// user.
func Largest(text string, uid int, name string) (largest Range) {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) != 3 || fields[0] == "" || fields[0] != name && fields[0] != strconv.Itoa(uid) {
			continue
		}
		first, err := strconv.Atoi(fields[1])
		count, countErr := strconv.Atoi(fields[2])
		if err == nil && countErr == nil && count > largest.Count {
			largest = Range{first, count}
		}
	}
	return largest
}

// userName is empty for a user without a name.
func userName(uid int) string {
	text, _ := os.ReadFile("/etc/passwd") // a system without has no names
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(line, ":"); len(fields) > 2 && fields[2] == strconv.Itoa(uid) {
			return fields[0]
		}
	}
	return ""
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

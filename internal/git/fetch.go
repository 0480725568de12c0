package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/process"
)

// Protocols is the variable that lists by which protocols git may fetch.
const Protocols = "GIT_ALLOW_PROTOCOL"

// Remote are the protocols by which git starts no program here that the address, or the version in it, names. From a
// file:// it does.
const Remote = "http:https:ssh:git"

// The limits of what is fetched, far above what configurations have.
const (
	mostBytes = 256 << 20 // of what is sent, and of the files
	mostFiles = 50_000
	mostTime  = 2 * time.Minute
	watching  = 50 * time.Millisecond
	endDelay  = 2 * time.Second // that git may take to end
)

// Why a repository is not fetched.
var (
	ErrLarge = fmt.Errorf("the repository has more than %d MiB", mostBytes>>20)
	ErrMany  = fmt.Errorf("the repository has more than %d files", mostFiles)
	ErrSlow  = fmt.Errorf("the repository was not fetched within %v", mostTime)
)

// A Source is a commit of a repository.
type Source struct {
	Address   string
	Name      string // of the commit; empty is the one that the repository has by itself
	Protocols string // by which it may be fetched, as git's variable has them; empty are those of Remote
}

// Fetch fetches a commit and writes its files to a folder that it makes. Submodules, and what git's large file storage
// keeps elsewhere, are not fetched.
func Fetch(ctx context.Context, dir string, from Source) error {
	defer ending.Await(ctx, "git fetch")()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, mostTime, ErrSlow)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go watch(ctx, dir, stop)
	f := fetch{ctx, dir, cmp.Or(from.Protocols, Remote)}
	for _, args := range [][]string{
		{"init", "--quiet", "--template="},
		{"fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", from.Address, cmp.Or(from.Name, "HEAD")},
	} {
		if _, err := f.run(args...); err != nil {
			return err
		}
	}
	list, err := f.run("ls-tree", "-r", "-z", "--long", "FETCH_HEAD")
	if err != nil {
		return err
	}
	if err := judge(list); err != nil {
		return err
	}
	_, err = f.run("checkout", "--quiet", "--no-recurse-submodules", "--detach", "FETCH_HEAD")
	return err
}

// fetch is a fetch into a folder.
type fetch struct {
	ctx       context.Context
	dir       string
	protocols string
}

// run runs git there with everything that it starts.
func (f fetch) run(args ...string) ([]byte, error) {
	cmd, err := process.Command("git", append([]string{"-C", f.dir}, args...)...)
	if err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isBound), Environment()...)
	cmd.Env = append(cmd.Env, Protocols+"="+f.protocols, "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1")
	err = process.Supervise(f.ctx, cmd, endDelay)
	if f.ctx.Err() != nil {
		return nil, context.Cause(f.ctx)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return nil, said(strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), err
}

// bound are variables that have git use another repository than that of its folder: hooks of a repository run with
// them, and what they start must not fetch into it.
var bound = []string{
	"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_PREFIX", "GIT_NAMESPACE", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE",
}

func isBound(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains(bound, name)
}

// watch ends a fetch into a folder that grows too large: git itself has no limit for what it is sent.
func watch(ctx context.Context, dir string, stop context.CancelCauseFunc) {
	ticker := time.NewTicker(watching)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if size(dir) > 2*mostBytes { // what was sent and, later, the files
			stop(ErrLarge)
			return
		}
	}
}

// size is how many bytes the files below a folder have, which come and go meanwhile.
func size(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// judge refuses a commit that has too much, by git's list of its files, before they are written: a few bytes may
// stand for any number of zeros.
func judge(list []byte) error {
	files, bytes := 0, int64(0)
	for entry := range strings.SplitSeq(string(list), "\x00") {
		about, _, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(about)
		if !ok || len(fields) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(fields[3], 10, 64) // a submodule has none
		files, bytes = files+1, bytes+size
	}
	switch {
	case files > mostFiles:
		return ErrMany
	case bytes > mostBytes:
		return ErrLarge
	}
	return nil
}

// Package git asks git about a repository that may be a stranger's, without git running what the repository names.
//
//	out, err := git.Output(ctx, dir, "rev-parse", "HEAD")
//	keys, err := git.Programs(ctx, dir)   // what of the repository's configuration has `git status` run a program
//	cmd.Env = append(cmd.Env, git.Environment()...)   // for a program that runs git
//	err := git.Fetch(ctx, dir, git.Source{Address: address, Name: "v1.2.0"})   // the files of one commit, within limits
//
// A clone brings no configuration with it, but an archive or a shared folder may: its .git/config names programs as
// monitors of files, hooks, filters and transports. Those that a variable can turn off are turned off; Programs reports
// the rest.
package git

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
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/process"
)

// fixed is configuration that counts more than a repository's.
var fixed = []struct{ key, value string }{
	{"core.fsmonitor", "false"}, {"core.hooksPath", os.DevNull}, {"log.showSignature", "false"}, {"status.showUntrackedFiles", "normal"},
}

// Environment is what git runs with, or a program that runs git: variables to be added to those of the process.
func Environment() []string {
	count, err := strconv.Atoi(os.Getenv("GIT_CONFIG_COUNT"))
	if err != nil {
		count = 0
	}
	env := []string{"GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_COUNT=" + strconv.Itoa(count+len(fixed))}
	for i, f := range fixed {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count+i, f.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count+i, f.value))
	}
	return env
}

// Output runs git in a folder for its output. It fetches nothing if the repository names a program for that.
func Output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	env := Environment()
	if keys, err := local(ctx, dir); err != nil || len(matching(keys, transport())) > 0 {
		env = append(env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	}
	return run(ctx, dir, env, args...)
}

func run(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd, err := process.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return out, said(strings.TrimSpace(stderr.String()))
	}
	return out, err
}

// ErrUnknown is what git means when it says nothing.
var ErrUnknown = errors.New("git does not know it")

func said(text string) error {
	if text == "" {
		return ErrUnknown
	}
	return errors.New(text)
}

// IsMissing says whether an error is that there is no git.
func IsMissing(err error) bool { return process.IsMissing(err) }

// Keys that name programs: of any command that looks at files, and of one that has to fetch what a partial clone is
// without.
var (
	filter    = lazy.Regexp(`^(filter\..*\.(clean|process|smudge)|hook\..*)$`)
	transport = lazy.Regexp(`^(core\.(sshcommand|gitproxy|askpass)|credential\.(.*\.)?helper|remote\..*\.(uploadpack|vcs)|protocol\..*)$`)
	partial   = lazy.Regexp(`^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$`)
)

// Programs are the keys of the configuration of the repository that dir is in, and of its submodules, by which
// `git status` and `git log` run a program that [Environment] does not turn off.
func Programs(ctx context.Context, dir string) ([]string, error) { return programs(ctx, dir, deep) }

// deep is how deep submodules may lie in each other.
const deep = 8

var errDeep = errors.New("its submodules are nested too deeply")

func programs(ctx context.Context, dir string, left int) ([]string, error) {
	if left == 0 {
		return nil, errDeep
	}
	keys, err := local(ctx, dir)
	if err != nil {
		return nil, err
	}
	found := matching(keys, filter())
	if len(matching(keys, partial())) > 0 {
		found = append(found, matching(keys, transport())...)
	}
	modules, err := submodules(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, module := range modules {
		more, err := programs(ctx, module, left-1)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// local are the keys that a repository itself sets, in small letters.
func local(ctx context.Context, dir string) ([]string, error) {
	out, err := run(ctx, dir, Environment(), "config", "--list", "--includes", "--show-scope", "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	var keys []string
	heeded := false
	words := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(words); i += 2 {
		switch words[i] {
		case "local", "worktree":
			keys = append(keys, strings.ToLower(words[i+1]))
		case "command":
			heeded = true
		}
	}
	if !heeded {
		return nil, errOld
	}
	return keys, nil
}

// errOld is a git that knows nothing of [Environment].
var errOld = errors.New("this git is older than 2.31, and may run programs that a repository names")

func matching(keys []string, pattern *regexp.Regexp) []string {
	var found []string
	for _, key := range keys {
		if pattern.MatchString(key) {
			found = append(found, key)
		}
	}
	return found
}

// submodules are the folders of those that are there.
func submodules(ctx context.Context, dir string) ([]string, error) {
	top, err := run(ctx, dir, Environment(), "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	root := strings.TrimRight(string(top), "\r\n")
	out, err := run(ctx, root, Environment(), "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.SplitSeq(string(out), "\x00") {
		path, ok := strings.CutPrefix(line, "160000 ")
		if _, path, _ = strings.Cut(path, "\t"); !ok {
			continue
		}
		if _, err := os.Lstat(filepath.Join(root, path, ".git")); err == nil {
			found = append(found, filepath.Join(root, path))
		}
	}
	return found, nil
}

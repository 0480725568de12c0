package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/process"
)

// Commit returns the commit that a branch, a tag or another name means in the repository that dir is in.
func Commit(ctx context.Context, dir, name string) (string, error) {
	out, err := Output(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	return strings.TrimSpace(string(out)), err
}

// Checkout writes the files of a commit of the repository that dir is in to the folder to, which has to be there. It
// returns where dir is in it. Files are as the repository keeps them: no filter or hook runs, and submodules are left
// out.
func Checkout(ctx context.Context, dir, commit, to string) (inside string, err error) {
	out, err := Output(ctx, dir, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return "", err
	}
	top, prefix, _ := strings.Cut(strings.TrimRight(string(out), "\r\n"), "\n")
	blobs, err := listBlobs(ctx, top, commit)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := writeBlobs(ctx, top, root, blobs); err != nil {
		return "", err
	}
	return filepath.Join(to, filepath.FromSlash(prefix)), requireFolders(root, strings.Trim(prefix, "/"))
}

// errNoFolder means that a commit does not have the folder that is asked for.
var errNoFolder = errors.New("the commit does not have this folder")

// requireFolders refuses a path that is not there, or leads through a link, which may leave the commit.
func requireFolders(root *os.Root, name string) error {
	for at := name; at != "" && at != "."; at = path.Dir(at) {
		if info, err := root.Lstat(at); err != nil || !info.IsDir() {
			return fmt.Errorf("%s: %w", at, errNoFolder)
		}
	}
	return nil
}

// alone has git run by itself: it contacts no server, also for a repository that has left files there.
func alone(cmd *exec.Cmd) {
	cmd.Env = append(append(os.Environ(), Environment()...), "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
}

// listBlobs lists the files of a commit. A few bytes may stand for any number of them, so it stops where they are too
// many or too large.
func listBlobs(ctx context.Context, top, commit string) (blobs []blob, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd, err := process.CommandContext(ctx, "git", "-C", top, "ls-tree", "-r", "-z", "--long", commit)
	if err != nil {
		return nil, err
	}
	alone(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	entries, left := bufio.NewReader(out), int64(mostBytes)
	for {
		entry, failed := entries.ReadSlice(0)
		if failed != nil {
			break // the end, or an entry that is longer than any name: git's exit decides
		}
		about, name, _ := strings.Cut(strings.TrimSuffix(string(entry), "\x00"), "\t")
		fields := strings.Fields(about)
		if len(fields) != 4 || fields[1] != "blob" {
			continue
		}
		size, _ := strconv.ParseInt(fields[3], 10, 64)
		blobs, left = append(blobs, blob{mode: fields[0], id: fields[2], path: name}), left-size
		if exceeded := tooMuch(len(blobs), left); exceeded != nil {
			stop()
			_ = cmd.Wait()
			return nil, exceeded
		}
	}
	return blobs, cmd.Wait()
}

func tooMuch(files int, left int64) error {
	switch {
	case files > mostFiles:
		return ErrMany
	case left < 0:
		return ErrLarge
	}
	return nil
}

// A blob is a file of a commit.
type blob struct{ mode, id, path string }

// writeBlobs writes files to a folder, by one git that reads all of them.
func writeBlobs(ctx context.Context, top string, root *os.Root, blobs []blob) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd, err := process.CommandContext(ctx, "git", "-C", top, "cat-file", "--batch")
	if err != nil {
		return err
	}
	alone(cmd)
	asks, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer asks.Close()
		for _, b := range blobs {
			if _, err := io.WriteString(asks, b.id+"\n"); err != nil {
				return // git has ended, as reading shows
			}
		}
	}()
	from := bufio.NewReader(answers)
	for _, b := range blobs {
		if err := writeBlob(root, b, from); err != nil {
			stop()
			_ = cmd.Wait()
			return fmt.Errorf("%s: %w", b.path, err)
		}
	}
	return cmd.Wait()
}

// errNoBlob means that git does not have a file, as in a partial clone.
var errNoBlob = errors.New("the repository does not have this file")

// modes of files in commits.
const (
	executable   = "100755"
	symbolicLink = "120000"
)

// writeBlob writes the next file that git answers with. A link is written as it is: who reads the folder must not
// follow it out of it.
func writeBlob(root *os.Root, b blob, from *bufio.Reader) error {
	header, err := from.ReadString('\n')
	if err != nil {
		return err
	}
	fields := strings.Fields(header)
	if len(fields) != 3 {
		return errNoBlob
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return errNoBlob
	}
	if err := root.MkdirAll(path.Dir(b.path), 0o755); err != nil {
		return err
	}
	content := io.LimitReader(from, size)
	if b.mode == symbolicLink {
		target, err := io.ReadAll(content)
		if err == nil {
			err = root.Symlink(string(target), b.path)
		}
		return errors.Join(err, skipLine(from))
	}
	mode := os.FileMode(0o644)
	if b.mode == executable {
		mode = 0o755
	}
	file, err := root.OpenFile(b.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close(), skipLine(from))
}

// skipLine reads the end of line that follows a file.
func skipLine(from *bufio.Reader) error {
	_, err := from.ReadByte()
	return err
}

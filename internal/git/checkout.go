package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	list, err := Output(ctx, top, "ls-tree", "-r", "-z", "--long", commit)
	if err != nil {
		return "", err
	}
	if err := judge(list); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return "", err
	}
	defer root.Close()
	return filepath.Join(to, filepath.FromSlash(prefix)), writeBlobs(ctx, top, root, blobsIn(list))
}

// A blob is a file of a commit.
type blob struct{ mode, id, path string }

// blobsIn are the files in the output of ls-tree.
func blobsIn(list []byte) (blobs []blob) {
	for entry := range strings.SplitSeq(string(list), "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); len(fields) == 4 && fields[1] == "blob" {
			blobs = append(blobs, blob{mode: fields[0], id: fields[2], path: name})
		}
	}
	return blobs
}

// writeBlobs writes files to a folder, by one git that reads all of them.
func writeBlobs(ctx context.Context, top string, root *os.Root, blobs []blob) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd, err := process.CommandContext(ctx, "git", "-C", top, "cat-file", "--batch")
	if err != nil {
		return err
	}
	cmd.Env = append(append(os.Environ(), Environment()...), "GIT_NO_LAZY_FETCH=1")
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

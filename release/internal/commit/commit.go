// Package commit reads what a release is made of: the commit of a working copy, which must have no changes.
//
//	c, err := commit.Read(ctx, dir)
//	files := c.Module("cluster") // of the module in that folder, as the go command packs it
//
// Contents come from the commit, not from the folder: filters, line ends and modes of this machine have no part in it.
package commit

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/zip"

	"github.com/slipway-dev/slipway/internal/git"
	"github.com/slipway-dev/slipway/internal/report"
)

// Commit is a commit that is checked out.
type Commit struct {
	Dir   string // the working copy
	Hash  string
	Date  time.Time // of the commit, in UTC
	files map[string]file
}

// ErrChanged is that the working copy is not its commit.
var ErrChanged = errors.New("the working copy has changes")

// shown is how many changed files an error names.
const shown = 10

// Read reads the commit that is checked out in dir. It refuses a working copy with changes, or files that git neither
// knows nor ignores.
func Read(ctx context.Context, dir string) (Commit, error) {
	c := Commit{Dir: dir}
	if err := clean(ctx, dir); err != nil {
		return c, err
	}
	out, err := git.Output(ctx, dir, "log", "-1", "--format=%H %ct")
	if err != nil {
		return c, unread(dir, err)
	}
	hash, seconds, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return c, unread(dir, err)
	}
	c.Hash, c.Date = hash, time.Unix(epoch, 0).UTC()
	c.files, err = content(ctx, dir, hash)
	return c, err
}

func unread(dir string, err error) error {
	return &report.Error{What: "git does not know the commit of this folder", Where: dir, Err: err, Hint: "a clone of the repository"}
}

// clean refuses a working copy with changes and names the changed files.
func clean(ctx context.Context, dir string) error {
	out, err := git.Output(ctx, dir, "status", "--porcelain", "--no-renames", "-z")
	if err != nil {
		return unread(dir, err)
	}
	var changed []string
	for entry := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if len(entry) > 3 {
			changed = append(changed, entry[3:])
		}
	}
	if len(changed) == 0 {
		return nil
	}
	names := strings.Join(changed[:min(len(changed), shown)], "\n")
	if more := len(changed) - shown; more > 0 {
		names += fmt.Sprintf("\nand %d more", more)
	}
	return &report.Error{What: "a release is made of a commit, and this folder differs from it", Where: dir, Err: ErrChanged, Hint: names, Next: "git status"}
}

// content reads the files of a commit. Symbolic links and submodules are not among them: modules have none.
func content(ctx context.Context, dir, hash string) (map[string]file, error) {
	out, err := archive(ctx, dir, hash)
	if err != nil {
		return nil, unread(dir, err)
	}
	return untar(out)
}

// attributes are those under which the go command has git pack a module.
const attributes = "* -export-subst -export-ignore\n"

// archive has git pack a commit as the go command does: in a repository that has the objects of the one in dir, but
// attributes and settings of its own.
func archive(ctx context.Context, dir, hash string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "slipway-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	objects, err := git.Output(ctx, dir, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return nil, err
	}
	if _, err := git.Output(ctx, temp, "init", "-q", "--bare"); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"objects/info/alternates": string(objects), "info/attributes": attributes} {
		path := filepath.Join(temp, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return nil, err
		}
	}
	return git.Output(ctx, temp, "-c", "core.autocrlf=input", "-c", "core.eol=lf", "archive", "--format=tar", hash)
}

// untar reads the plain files of an archive.
func untar(data []byte) (map[string]file, error) {
	files := map[string]file{}
	r := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the archive of git: %w", err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("read the archive of git: %w", err)
		}
		files[h.Name] = file{h.Name, data}
	}
}

// File is the content of a file; ok is false if the commit has none of that name.
func (c Commit) File(name string) (data []byte, ok bool) {
	f, ok := c.files[name]
	return f.data, ok
}

// Module lists the files of the module in a folder, "." for the root, as the go command packs them: those of modules
// below it have no part, and the root's licence is that of a module without its own.
func (c Commit) Module(dir string) []zip.File {
	var files []zip.File
	for name, f := range c.files {
		rel, in := below(dir, name)
		if in && c.home(name) == dir {
			files = append(files, file{rel, f.data})
		}
	}
	const licence = "LICENSE"
	if _, own := c.files[path.Join(dir, licence)]; !own {
		if root, ok := c.files[licence]; ok {
			files = append(files, root)
		}
	}
	slices.SortFunc(files, func(a, b zip.File) int { return strings.Compare(a.Path(), b.Path()) })
	return files
}

// below returns a name relative to a folder.
func below(dir, name string) (rel string, ok bool) {
	if dir == "." {
		return name, true
	}
	return strings.CutPrefix(name, dir+"/")
}

// home is the folder of the module that a file belongs to.
func (c Commit) home(name string) string {
	dir := path.Dir(name)
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := c.files[path.Join(dir, "go.mod")]; ok {
			break
		}
	}
	return dir
}

package crdcheck

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/git"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Older reads the files that definitions are compared with: those in the folder crds of the project root, as they were
// in a revision of git, or else those in a folder or a file. A text that git knows as a revision counts as one, unless
// it begins with a dot or a slash, as a path.
func Older(ctx context.Context, root, crds, what string) ([]File, error) {
	isPath := filepath.IsAbs(what) || strings.HasPrefix(what, ".")
	if !isPath {
		commit, err := resolve(ctx, root, what)
		if err == nil {
			return revision{ctx, root, commit}.files(crds)
		}
		if !exists(filepath.Join(root, what)) {
			return nil, err
		}
	}
	if !filepath.IsAbs(what) {
		what = filepath.Join(root, what)
	}
	return fromDisk(what, crds)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// resolve names the commit that is meant by what.
func resolve(ctx context.Context, root, what string) (string, error) {
	commit, err := git.Commit(ctx, root, what)
	if err == nil {
		return commit, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	e := &report.Error{What: "it is neither a git revision nor a folder or file", Where: "--compare " + what, Err: err,
		Hint: "use a branch, a tag or a commit, like main or v1.2.0; or the path of a folder or file with CRDs", Code: report.UsageCode}
	if git.IsMissing(err) {
		e.Hint = "git is not on PATH: install it, or give the path of a folder or file with CRDs"
	} else {
		e.Next = "git fetch --tags"
	}
	return "", e
}

// revision reads files of a commit, by their paths from root, which may lie deep in the repository.
type revision struct {
	ctx    context.Context
	root   string
	commit string
}

func (r revision) files(folder string) ([]File, error) {
	out, err := git.Output(r.ctx, r.root, "ls-tree", "-r", "-z", "--name-only", r.commit, "--", filepath.ToSlash(folder)+"/")
	if err != nil {
		return nil, r.failed(folder, err)
	}
	var files []File
	for _, name := range strings.Split(string(out), "\x00") {
		if !isManifest(name) {
			continue
		}
		content, err := git.Output(r.ctx, r.root, "show", "--no-textconv", r.commit+":./"+name)
		if err != nil {
			return nil, r.failed(name, err)
		}
		files = append(files, File{Name: path.Clean(name), Content: string(content)})
	}
	return files, nil
}

func (r revision) failed(where string, err error) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	return &report.Error{What: "the revision cannot be read", Where: r.commit + ":" + where, Err: err}
}

func isManifest(name string) bool {
	switch path.Ext(filepath.ToSlash(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// fromDisk reads a file, or all manifests in a folder; of a project's folder, those in its folder of CRDs.
func fromDisk(where, crds string) ([]File, error) {
	if inside := filepath.Join(where, crds); exists(inside) {
		where = inside
	}
	info, err := os.Stat(where)
	if err != nil {
		return nil, unreadable(where, err)
	}
	names := []string{where}
	if info.IsDir() {
		if names, err = manifests(where); err != nil {
			return nil, unreadable(where, err)
		}
	}
	var files []File
	for _, name := range names {
		content, err := safefs.ReadFile(name)
		if err != nil {
			return nil, unreadable(name, err)
		}
		files = append(files, File{Name: name, Content: string(content)})
	}
	return files, nil
}

func manifests(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && isManifest(e.Name()) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, nil
}

func unreadable(where string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &report.Error{What: "the CRDs to compare with cannot be read", Where: where, Err: err, Hint: "use a folder or file with CRDs, or a git revision", Code: report.UsageCode}
}

// Package kustomizefs is a disk that kustomize reads within limits.
//
// A kustomization is a file of a repository, and not to be trusted: a few hundred bytes of YAML whose aliases stand for
// lists of aliases become gigabytes in memory, and so do a few folders of which each includes the next one twice. A
// [Disk] looks at a file before kustomize does: at its size, at what it becomes once aliases are replaced, also in the
// patches that it holds as text, and at what was read altogether.
//
//	disk := kustomizefs.Over(filesys.MakeFsOnDisk())
//	built, err := kustomizefs.Await(ctx, disk, func() (resmap.ResMap, error) { return kustomizer.Run(disk, dir) })
//	if exceeded := disk.Exceeded(); exceeded != nil { … } // says it better than err
//
// Kustomize fetches nothing itself. A context of [Online] has the disk fetch what a kustomization names by its address,
// within the same limits, and announce it; without it the build ends with an [ErrRemote], before any connection and
// any git. Kustomize takes no other client and no other git, so [Await] holds both by what is the process's own:
// [http.DefaultTransport] and git's variable. Git has programs started by some addresses and versions, which the disk
// refuses.
package kustomizefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// The limits, far above what projects have: all CRDs of the largest operators are some megabytes, and aliases save some
// lines.
const (
	maxFile   = 32 << 20      // bytes of a file
	maxTotal  = 64 << 20      // bytes of all files, each as often as it is read
	maxReads  = 10_000        // how often files are read
	maxGrowth = yamlsize.Most // bytes that aliases add, in a file and in all
)

// A Disk reads within limits.
type Disk struct {
	filesys.FileSystem
	// OwnGit is that kustomize runs git itself, as some of its commands do. The disk announces what that fetches.
	OwnGit bool
	// Unrestricted is that a kustomization may name files outside of its folder. None in a fetched repository may.
	Unrestricted bool

	total, growth, reads int
	exceeded             error
	ctx                  context.Context // of the work that reads from it
	network              *Network        // of that, or nil
	mounts               map[string]string
	links                map[string]string // from a file to the name of a kustomization by which kustomize asked for it
	clones               []string          // folders with the files of repositories
}

// Over is a disk with the files of another one, whose limits count from now.
func Over(disk filesys.FileSystem) *Disk { return &Disk{FileSystem: disk} }

// Exceeded is the limit that was met first, or nil: kustomize tries other ways to read what it could not, and reports
// them.
func (d *Disk) Exceeded() error { return d.exceeded }

// A LimitError is a file that is not given to kustomize.
type LimitError struct {
	Path string
	Err  error
}

func (e *LimitError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *LimitError) Unwrap() error { return e.Err }

// Why a file is not given to kustomize.
var (
	ErrTooLarge = errors.New("the file is too large")
	ErrAliases  = yamlsize.ErrGrowth
	ErrTooMuch  = errors.New("with it the kustomization is too large")
	errNoFile   = errors.New("it is not a file")
)

// ReadFile reads a file within the limits.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	text, err := d.read(path)
	if asked := cmp.Or(d.links[path], path); err == nil && d.ctx != nil && isKustomization(asked) {
		text, err = d.local(asked, text)
	}
	return text, d.note(err)
}

// note keeps the first error that is one of the disk's own.
func (d *Disk) note(err error) error {
	_, limit := errors.AsType[*LimitError](err)
	_, fetch := errors.AsType[*FetchError](err)
	if (limit || fetch) && d.exceeded == nil {
		d.exceeded = err
	}
	return err
}

func (d *Disk) read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // in memory
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() && !info.IsDir():
		return nil, &LimitError{path, errNoFile}
	case info.Mode().IsRegular() && info.Size() > maxFile:
		return nil, &LimitError{path, ErrTooLarge}
	}
	text, err := d.FileSystem.ReadFile(path)
	if _, deep := errors.AsType[*yamlsize.DepthError](err); deep || errors.Is(err, ErrAliases) { // a view of the project found it
		return nil, &LimitError{path, err}
	}
	if err != nil {
		return nil, err
	}
	added, err := yamlsize.Growth(text)
	if err == nil {
		err = options(cmp.Or(d.links[path], path), text)
	}
	if err != nil {
		return nil, &LimitError{path, err}
	}
	d.reads, d.total, d.growth = d.reads+1, d.total+len(text), d.growth+added
	switch {
	case d.growth > maxGrowth:
		return nil, &LimitError{path, ErrAliases}
	case d.reads > maxReads || d.total > maxTotal:
		return nil, &LimitError{path, ErrTooMuch}
	}
	return text, nil
}

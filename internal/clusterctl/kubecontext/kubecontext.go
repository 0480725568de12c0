// Package kubecontext enters clusters into the user's kubeconfig files and takes
// them out again, as kubectl's users know it from other local clusters.
//
// [Add] merges one cluster, user and context of the same name into the file
// that kubectl would write to, and makes the context the current one. [Remove]
// takes exactly that back, in all files; a context that was current before becomes
// current again. Everything else in the files stays, and so do their permissions and owners. Files are locked the way
// client-go does it, so that kubectl and others can be used meanwhile, and
// replaced in one step.
package kubecontext

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Files returns the kubeconfig files in the order of their precedence: those of
// KUBECONFIG, or the one in the home folder.
func Files(getenv func(string) string) ([]string, error) {
	var files []string
	for _, file := range filepath.SplitList(getenv(clientcmd.RecommendedConfigPathEnvVar)) {
		if file == "" {
			continue
		}
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(files, abs) {
			files = append(files, abs)
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, &report.Error{What: "no path for the kubeconfig", Err: err, Hint: "set KUBECONFIG to a file"}
	}
	return []string{filepath.Join(home, clientcmd.RecommendedHomeDir, clientcmd.RecommendedFileName)}, nil
}

// Check refuses files that [Add] could not read.
func Check(files []string) error {
	_, err := load(files)
	return err
}

// Current is the context that kubectl uses; "" without one.
func Current(files []string) (string, error) {
	list, err := load(files)
	if err != nil {
		return "", err
	}
	name, _ := list.current()
	return name, nil
}

// Change is what [Add] did, as [Remove] needs to know it.
type Change struct {
	Files    []string // those that Add was called with
	Selected string   // the one of them in which the context was made the current one; empty if that is not known
	Previous string   // the context that was current there before; may be empty
}

// Add enters the only cluster of the kubeconfig at source under name and selects it.
func Add(ctx context.Context, files []string, name, source string) (Change, error) {
	from, err := clientcmd.LoadFromFile(source)
	if err != nil {
		return Change{}, &report.Error{What: "the cluster's kubeconfig cannot be read", Where: source, Err: err}
	}
	release, err := lock(ctx, files)
	if err != nil {
		return Change{}, err
	}
	defer release()
	all, err := load(files)
	if err != nil {
		return Change{}, err
	}
	previous, selecting := all.current()
	if selecting < 0 {
		selecting = all.target()
	}
	target := all.target()
	if err := enter(all[target].config, name, from); err != nil {
		return Change{}, &report.Error{What: "the cluster's kubeconfig cannot be used", Where: source, Err: err}
	}
	all[selecting].config.CurrentContext = name
	if err := all.save(); err != nil {
		return Change{}, err
	}
	return Change{Files: files, Selected: files[selecting], Previous: previous}, nil
}

// enter copies the current context of from to to, under name.
func enter(to *api.Config, name string, from *api.Config) error {
	current, ok := from.Contexts[from.CurrentContext]
	if !ok {
		return errors.New("it selects no context")
	}
	cluster, user := from.Clusters[current.Cluster], from.AuthInfos[current.AuthInfo]
	if cluster == nil || user == nil {
		return errors.New("its context lacks the cluster or the user")
	}
	to.Clusters[name] = cluster
	to.AuthInfos[name] = user
	to.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name, Namespace: current.Namespace}
	return nil
}

// file is a kubeconfig file and what it is to hold.
type file struct {
	path   string
	exists bool
	before []byte // as client-go writes it, to tell a change
	config *api.Config
}

type fileList []*file

// load reads files; those that do not exist are empty.
func load(files []string) (fileList, error) {
	var all fileList
	for _, path := range files {
		config, err := clientcmd.LoadFromFile(path)
		missing := errors.Is(err, fs.ErrNotExist)
		if missing {
			config, err = api.NewConfig(), nil
		}
		if err != nil {
			return nil, unreadable(path, err)
		}
		before, err := clientcmd.Write(*config)
		if err != nil {
			return nil, err
		}
		all = append(all, &file{path, !missing, before, config})
	}
	return all, nil
}

// current returns the context that kubectl uses and the index of the file that selects it, or -1.
func (l fileList) current() (string, int) {
	i := slices.IndexFunc(l, func(f *file) bool { return f.config.CurrentContext != "" })
	if i < 0 {
		return "", -1
	}
	return l[i].config.CurrentContext, i
}

// target is the index of the file that new entries go to: the first that
// exists, or else the last.
func (l fileList) target() int {
	if i := slices.IndexFunc(l, func(f *file) bool { return f.exists }); i >= 0 {
		return i
	}
	return len(l) - 1
}

// save writes the files that changed.
func (l fileList) save() error {
	for _, f := range l {
		text, err := clientcmd.Write(*f.config)
		if err != nil {
			return err
		}
		if slices.Equal(text, f.before) {
			continue
		}
		if err := safefs.Update(f.path, text, 0o600); err != nil {
			return unwritable(f.path, err)
		}
	}
	return nil
}

func unreadable(path string, err error) error {
	e := &report.Error{What: "a kubeconfig cannot be read", Where: path, Err: cause(err),
		Hint: "correct or delete the file, or set KUBECONFIG to another one", Next: "slipway kubectl config view"}
	if _, err := os.Stat(safefs.Backup(path)); err == nil {
		e.Hint = "its content before slipway was interrupted is in " + safefs.Backup(path)
		e.Next = "mv " + safefs.Backup(path) + " " + path
	}
	return e
}

func unwritable(path string, err error) error {
	return &report.Error{What: "the kubeconfig cannot be written", Where: path, Err: cause(err),
		Hint: "set KUBECONFIG to another file"}
}

// cause takes away the operation and the path that err repeats.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

const (
	lockPoll = 20 * time.Millisecond
	// lockTime is how long others may hold a lock: who changes a kubeconfig needs milliseconds.
	lockTime = 3 * time.Second
)

// lock takes client-go's lock of each file: a file beside it that must not exist.
func lock(ctx context.Context, files []string) (release func(), err error) {
	var held []string
	release = func() {
		for _, path := range held {
			_ = os.Remove(path)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	for _, file := range slices.Compact(slices.Sorted(slices.Values(files))) { // one order for all: no deadlock
		path := file + ".lock"
		if err := create(ctx, path); err != nil {
			release()
			return nil, err
		}
		held = append(held, path)
	}
	return release, nil
}

// create makes the lock file at path, waiting for others to remove theirs.
func create(ctx context.Context, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return unwritable(path, err)
	}
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return unwritable(path, err)
		}
		select {
		case <-ctx.Done():
			return busy(path, ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}

// busy explains a lock that nobody releases; an interrupt stays one.
func busy(path string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &report.Error{Class: report.Conflict, What: "the kubeconfig is locked", Where: path,
		Err:  fmt.Errorf("another program has held it for %s", lockTime),
		Hint: "if no other program is changing the kubeconfig, delete the lock, which a crashed program left", Next: "rm " + path}
}

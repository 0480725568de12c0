package kubecontext

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// Remove takes the context called name out of all files that it was entered into. If the context is the current one of
// a file, the one that was current there before becomes current again, provided it still exists. Files that are gone do
// not matter, and one that cannot be changed keeps no other from being changed.
func Remove(ctx context.Context, name string, changes []Change) error {
	var errs []error
	for _, path := range entered(changes) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		errs = append(errs, remove(ctx, path, name, before(changes, path)))
	}
	return errors.Join(errs...)
}

// entered are the files of all changes.
func entered(changes []Change) []string {
	var all []string
	for _, c := range changes {
		for _, file := range c.Files {
			if !slices.Contains(all, file) {
				all = append(all, file)
			}
		}
	}
	return all
}

// before is the last change that selected the context in a file, or else the last one that had to do with that file.
func before(changes []Change, path string) Change {
	for _, hasPath := range []func(Change) bool{
		func(c Change) bool { return c.Selected == path },
		func(c Change) bool { return slices.Contains(c.Files, path) },
	} {
		for _, c := range slices.Backward(changes) {
			if hasPath(c) {
				return c
			}
		}
	}
	return Change{}
}

func remove(ctx context.Context, path, name string, c Change) error {
	release, err := lock(ctx, []string{path})
	if err != nil {
		return err
	}
	defer release()
	one, err := load([]string{path})
	if err != nil {
		return err
	}
	config := one[0].config
	delete(config.Clusters, name)
	delete(config.AuthInfos, name)
	delete(config.Contexts, name)
	if config.CurrentContext == name {
		config.CurrentContext = ""
		if c.Previous != name && exists(append(c.Files, path), c.Previous) {
			config.CurrentContext = c.Previous
		}
	}
	return one.save()
}

// exists tells whether one of these files, as far as they can be read, has a context of that name.
func exists(files []string, name string) bool {
	return slices.ContainsFunc(files, func(path string) bool {
		one, err := load([]string{path})
		return err == nil && one[0].config.Contexts[name] != nil
	})
}

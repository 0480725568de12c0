package program

import (
	"context"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
)

// FindKubectl looks for the kubectl of the cluster program and never builds it: beside the program in SLIPWAY_CLUSTER,
// beside slipway's own executable, in the cache. Ok is false when it is in none of these places.
func (f *Finder) FindKubectl(ctx context.Context) (path string, ok bool, err error) {
	if named := f.Getenv("SLIPWAY_CLUSTER"); named != "" {
		p, err := f.named(ctx, named)
		if err != nil {
			return "", false, err
		}
		path, ok, err := besideNamed(p)
		if ok || err != nil {
			return path, ok, err
		}
	}
	path, ok, _ = f.find(kubectlProduct()) // without sources it is in none of the places
	return path, ok, nil
}

// besideNamed looks beside a cluster program that the user named, which may be a link.
func besideNamed(p Program) (path string, ok bool, err error) {
	real, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		return "", false, err
	}
	path = filepath.Join(filepath.Dir(real), fileName(kubectlName))
	if !isFile(path) {
		return "", false, nil
	}
	if err := sound(path); err != nil {
		return path, false, &report.Error{What: "the kubectl beside SLIPWAY_CLUSTER cannot be used", Where: path, Err: err,
			Hint: "delete it, or unset SLIPWAY_CLUSTER; slipway then compiles its own"}
	}
	return path, true, nil
}

// EnsureKubectl finds kubectl or builds it, which takes half a minute once the cluster program is compiled.
func (f *Finder) EnsureKubectl(ctx context.Context) (path string, err error) {
	path, ok, err := f.FindKubectl(ctx)
	if ok || err != nil {
		return path, err
	}
	path, err = f.obtain(ctx, kubectlProduct())
	if named := f.Getenv("SLIPWAY_CLUSTER"); err != nil && named != "" && ctx.Err() == nil {
		return "", &report.Error{What: "no " + kubectlName + " is beside the program that SLIPWAY_CLUSTER names, and slipway cannot make one", Where: named, Err: err,
			Hint: "put the " + kubectlName + " of the same build beside it, or kubectl on PATH"}
	}
	return path, err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

const (
	kubernetes = "k8s.io/kubernetes"
	etcd       = "go.etcd.io/"
	// unreleased is the version under which Kubernetes' own go.mod requires its staging modules.
	unreleased = "v0.0.0"
)

var (
	errVersion    = errors.New("not a version of Kubernetes")
	errNotToBeHad = errors.New("cannot be had, and nothing has been changed")
)

// canonical is the version that was asked for, with its v.
func canonical(version string) (string, error) {
	version = "v" + strings.TrimPrefix(version, "v")
	if semver.Canonical(version) != version || semver.Major(version) != "v1" {
		return "", fmt.Errorf("%w: %s (as in v1.38.0)", errVersion, version)
	}
	return version, nil
}

// choose downloads the modules of the version that was asked for, or of the newest one that can be had.
func choose(ctx context.Context, asked, from string) ([]module.Version, error) {
	if asked != "" {
		version, err := canonical(asked)
		if err != nil {
			return nil, err
		}
		return wantedModules(ctx, version)
	}
	newer, err := newerThan(ctx, "v"+from)
	if err != nil {
		return nil, err
	}
	for _, version := range newer {
		wanted, err := wantedModules(ctx, version)
		if !errors.Is(err, errNotToBeHad) {
			return wanted, err
		}
		say("%v", err)
	}
	return nil, fmt.Errorf("%s is the newest release that can be had", from)
}

// newerThan lists the releases behind a version, the newest first.
func newerThan(ctx context.Context, version string) ([]string, error) {
	out, err := output(ctx, "go", "list", "-m", "-json", "-versions", kubernetes+"@"+version)
	if err != nil {
		return nil, fmt.Errorf("list the versions of Kubernetes: %w", err)
	}
	var listed struct{ Versions []string }
	if err := json.Unmarshal(out, &listed); err != nil {
		return nil, err
	}
	releases := slices.DeleteFunc(listed.Versions, func(v string) bool {
		return semver.Prerelease(v) != "" || semver.Compare(v, version) <= 0
	})
	slices.SortFunc(releases, func(a, b string) int { return semver.Compare(b, a) })
	return releases, nil
}

// wantedModules are Kubernetes, its staging modules and etcd at the versions that belong together, all downloaded.
func wantedModules(ctx context.Context, version string) ([]module.Version, error) {
	say("download %s %s", kubernetes, version)
	file, err := download(ctx, module.Version{Path: kubernetes, Version: version})
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	wanted, err := belongTo(version, data)
	if err != nil {
		return nil, err
	}
	say("download %d staging modules and parts of etcd", len(wanted)-1)
	for _, m := range wanted[1:] {
		if _, err := download(ctx, m); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// belongTo reads Kubernetes' go.mod. What it takes from its own staging folder is released as v0.X.Y with Kubernetes
// v1.X.Y.
func belongTo(version string, goMod []byte) ([]module.Version, error) {
	upstream, err := modfile.ParseLax("go.mod", goMod, nil)
	if err != nil {
		return nil, err
	}
	wanted := []module.Version{{Path: kubernetes, Version: version}}
	for _, r := range upstream.Require {
		switch {
		case r.Mod.Version == unreleased:
			wanted = append(wanted, module.Version{Path: r.Mod.Path, Version: staging(version)})
		case strings.HasPrefix(r.Mod.Path, etcd):
			wanted = append(wanted, r.Mod)
		}
	}
	return wanted, nil
}

// staging is the version of the staging modules that belong to a version of Kubernetes.
func staging(version string) string { return "v0." + strings.TrimPrefix(version, "v1.") }

// minor is the release line of a version with or without its v.
func minor(version string) string { return semver.MajorMinor("v" + strings.TrimPrefix(version, "v")) }

// download returns the path of the module's go.mod.
func download(ctx context.Context, m module.Version) (string, error) {
	out, err := output(ctx, "go", "mod", "download", "-json", m.String())
	var answer struct{ GoMod, Error string }
	if e := json.Unmarshal(out, &answer); e == nil && answer.Error != "" {
		return "", fmt.Errorf("%w: %s", errNotToBeHad, answer.Error)
	}
	if err != nil {
		return "", fmt.Errorf("download %s: %w", m, err)
	}
	return answer.GoMod, nil
}

// require sets the versions of those modules that a go.mod requires and tidies it. On failure both files are as before.
func require(ctx context.Context, folder, from string, wanted []module.Version) (err error) {
	say("%s/go.mod", folder)
	restore, err := remember(filepath.Join(folder, "go.mod"), filepath.Join(folder, "go.sum"))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, restore())
		}
	}()
	path := filepath.Join(folder, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := setVersions(data, from, wanted)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		return err
	}
	// A package that has moved is for the compiler to tell, so tidying goes on in spite of it (-e).
	return show(ctx, "go", "mod", "tidy", "-C", folder, "-e")
}

// setVersions changes the requirements that are there. Of etcd, whose modules are released together, that is all of
// them; a module that was part of the old release and is not of the new one goes. A go.mod that requires Kubernetes
// itself must require every staging module, because Kubernetes' own names a version that does not exist.
func setVersions(goMod []byte, from string, wanted []module.Version) ([]byte, error) {
	file, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		return nil, err
	}
	versions, etcdVersion := map[string]string{}, ""
	for _, m := range wanted {
		versions[m.Path] = m.Version
		if m.Path == "go.etcd.io/etcd/api/v3" {
			etcdVersion = m.Version
		}
	}
	requiresKubernetes := false
	for _, r := range slices.Clone(file.Require) {
		path, version := r.Mod.Path, versions[r.Mod.Path]
		requiresKubernetes = requiresKubernetes || path == kubernetes
		switch {
		case version != "":
			err = file.AddRequire(path, version)
		case strings.HasPrefix(path, etcd+"etcd/"):
			err = file.AddRequire(path, etcdVersion)
		case strings.HasPrefix(path, "k8s.io/") && r.Mod.Version == staging("v"+from):
			err = file.DropRequire(path)
		}
		if err != nil {
			return nil, err
		}
		delete(versions, path)
	}
	if requiresKubernetes {
		for path, version := range versions {
			file.AddNewRequire(path, version, true)
		}
	}
	file.Cleanup()
	return file.Format()
}

// unpinned are the modules that belong to the release and that tidying has dropped.
func unpinned(folder string, wanted []module.Version) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	required := map[string]bool{}
	for _, r := range file.Require {
		required[r.Mod.Path] = true
	}
	var missing []string
	for _, m := range wanted {
		if required[kubernetes] && m.Version == staging(wanted[0].Version) && !required[m.Path] {
			missing = append(missing, m.Path)
		}
	}
	return missing, nil
}

// remember reads files and returns what puts them back.
func remember(paths ...string) (restore func() error, err error) {
	before := map[string][]byte{}
	for _, path := range paths {
		if before[path], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	return func() error {
		var errs []error
		for path, data := range before {
			errs = append(errs, os.WriteFile(path, data, 0o644))
		}
		return errors.Join(errs...)
	}, nil
}

package regenerate

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// Leftovers returns the CRDs in the plan's folders that a generator once wrote and that made does not contain, as
// absolute paths. CRDs without the generator's annotation are hand-written and never leftovers. If a call cannot be
// followed it returns none.
func Leftovers(plan Plan, made []generate.File) ([]string, error) {
	if plan.unclear {
		return nil, nil
	}
	var left []string
	for _, folder := range plan.CRDFolders() {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			if slices.ContainsFunc(made, func(f generate.File) bool { return f.Path == path }) || len(plan.Left([]string{path})) > 0 {
				continue
			}
			version, err := writtenBy(path)
			if err != nil {
				return nil, &report.Error{What: "file cannot be read", Where: path, Err: err}
			}
			if version != "" {
				left = append(left, path)
			}
		}
	}
	return left, nil
}

// CRDFolders returns the folders that CRDs are written to, as absolute paths.
func (p Plan) CRDFolders() []string { return p.foldersOf("crd") }

// foldersOf returns the folders that a generator writes to, sorted, as absolute paths.
func (p Plan) foldersOf(generator string) []string {
	var folders []string
	for _, run := range p.runs {
		for _, use := range run.uses {
			if use.Name != generator || use.Output.To != generate.ToFiles {
				continue
			}
			folder := filepath.FromSlash(use.Output.Folder(use.Name))
			if !filepath.IsAbs(folder) {
				folder = filepath.Join(p.root, filepath.FromSlash(run.dir), folder)
			}
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// versionOf captures the controller-gen version in a CRD's annotation.
var versionOf = lazy.Regexp(`\n    ` + regexp.QuoteMeta(arguments.VersionAnnotation) + `: (.*)`)

// headSize is how much of a CRD is read for its annotation, in bytes.
const headSize = 4096

// writtenBy returns the controller-gen version that a CRD's annotation names, or "" for any other file. It reads only
// the first 4096 bytes, where generators put the annotation.
func writtenBy(path string) (version string, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", nil // a folder, a pipe or a dangling link
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	head := make([]byte, headSize)
	n, err := file.Read(head)
	if err != nil && n == 0 {
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		return "", err
	}
	found := versionOf().FindSubmatch(head[:n])
	if found == nil || !bytes.Contains(head[:n], []byte("\nkind: CustomResourceDefinition\n")) {
		return "", nil
	}
	return string(found[1]), nil
}

// Prune deletes leftovers of the plan. Paths must be in the project or below a folder of outside.
func Prune(plan Plan, outside, paths []string) error {
	places, err := safefs.OpenFolders(plan.within(outside)...)
	if err != nil {
		return &report.Error{What: "the folder cannot be opened", Where: plan.root, Err: err}
	}
	defer places.Close()
	for _, path := range paths {
		folder, name, err := places.Find(filepath.Dir(path))
		if err == nil {
			err = folder.Remove(name + "/" + filepath.Base(path))
		}
		if _, out := errors.AsType[*safefs.OutsideError](err); out {
			return &report.Error{Class: report.BadProject, What: "a generated file outside the project was not deleted", Where: path, Err: err,
				Hint: "allow its folder with --outside", Next: "slipway generate --prune --outside " + shellword.Quote(filepath.Dir(path))}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &report.Error{What: "file cannot be deleted", Where: path, Err: err}
		}
	}
	return nil
}

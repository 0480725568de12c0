package kustomization

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/kustomizefs"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// In reports whether dir holds a kustomization.
func In(dir string) bool {
	_, err := kustomizationIn(dir)
	return err == nil
}

// kustomizationIn returns the path of the kustomization in dir.
func kustomizationIn(dir string) (string, error) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", noKustomization(dir)
}

func noKustomization(dir string) error {
	return &report.Error{Class: report.BadProject, What: "no kustomization in this folder", Where: dir, Hint: "expected a file named " + konfig.DefaultKustomizationFileName()}
}

// hasKustomization reports whether a disk has a kustomization in dir, which may be one that is laid over it.
func hasKustomization(disk filesys.FileSystem, dir string) bool {
	return slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool { return disk.Exists(filepath.Join(dir, name)) })
}

// A Kustomization is a folder to build as if some of its files were others. None is changed.
type Kustomization struct {
	Folder string
	// Image is the operator's: a reference that replaces the image controller, or NAME=REFERENCE. It is set as
	// `kustomize edit set image NAME=REFERENCE` sets it: in each kustomization of the tree that names that image, and
	// in the folder's own for those that none names. Empty leaves the project's.
	Image string
	// Files are the project's, where they are read through a view.
	Files Files
	// Changed are texts by absolute path, read in place of what is there, or is not. What is nil is built without.
	Changed map[string][]byte
	// Tell is told what was done that kustomize by itself does not, and what a role lacks; it may be nil.
	Tell func(text string)
}

// Build returns the objects that the kustomization describes, in its order. A folder without one, and one that does not
// build, is a [report.Error]. One that names addresses is a [kustomizefs.ErrRemote], unless ctx is one of
// [kustomizefs.Online].
func (k Kustomization) Build(ctx context.Context) ([]*unstructured.Unstructured, error) {
	disk := k.Files.disk(k.Changed)
	if k.Image != "" {
		var err error
		if disk, err = withImage(disk, k.Folder, k.Image); err != nil {
			return nil, err
		}
	}
	return build(ctx, note(disk, k.Files.Roles), k.Folder, k.Tell)
}

// ReadManifests reads the objects in a file of manifests.
func ReadManifests(ctx context.Context, file string) ([]*unstructured.Unstructured, error) {
	list, err := json.Marshal(map[string][]string{"resources": {filepath.Base(file)}})
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(file)
	return Kustomization{Folder: dir, Changed: map[string][]byte{filepath.Join(dir, "kustomization.yaml"): list}}.Build(ctx)
}

// build returns the objects of the kustomization in dir of disk.
func build(ctx context.Context, disk *noted, dir string, tell func(text string)) ([]*unstructured.Unstructured, error) {
	if !hasKustomization(disk, dir) {
		return nil, noKustomization(dir)
	}
	limited := kustomizefs.Over(disk)
	built, err := kustomizefs.Await(ctx, limited, func() (resmap.ResMap, error) {
		return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(limited, dir)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if exceeded := limited.Exceeded(); exceeded != nil {
		return nil, tooMuch(dir, exceeded)
	}
	if err != nil {
		refused, _ := Unbuilt(dir, err)
		return nil, refused
	}
	var objects []*unstructured.Unstructured
	for _, r := range built.Resources() {
		object, err := toUnstructured(r)
		if err != nil {
			return nil, &report.Error{Class: report.BadProject, What: "kustomize printed a document that is not an object", Where: dir, Err: err}
		}
		objects = append(objects, object)
	}
	b := completion{objects: objects, from: disk, tell: tell}
	b.placeRoles()
	b.followNames()
	return b.objects, nil
}

// TooMuch is the refusal of a kustomization that would take more memory than any project needs, have git start a
// program, or need what cannot be fetched.
func TooMuch(exceeded error) *report.Error {
	if errors.Is(exceeded, kustomizefs.ErrRemote) {
		return &report.Error{Class: report.BadProject, What: "the kustomization needs files from a network, which this command does not use", Err: exceeded,
			Hint: "deploy, install, helm and kustomize build fetch them, and report each address before"}
	}
	if fetch, ok := errors.AsType[*kustomizefs.FetchError](exceeded); ok {
		return &report.Error{What: "cannot fetch what the kustomization names", Where: fetch.Address, Err: fetch.Err, Hint: "check the address, and whether git and this machine's network reach it"}
	}
	if errors.Is(exceeded, kustomizefs.ErrOption) {
		return &report.Error{Class: report.BadProject, What: "the kustomization could make git run a program", Err: exceeded, Hint: "use the name of a branch, a tag or a commit as version"}
	}
	if errors.Is(exceeded, kustomizefs.ErrLeaves) || errors.Is(exceeded, kustomizefs.ErrBeyond) {
		hint := "copy the base into the project, if you trust it"
		if errors.Is(exceeded, kustomizefs.ErrBeyond) {
			hint = "leave out --load-restrictor; or " + hint
		}
		return &report.Error{Class: report.BadProject, What: "files of this machine could become part of a fetched base", Err: exceeded, Hint: hint}
	}
	if deep, ok := errors.AsType[*yamlsize.DepthError](exceeded); ok {
		e := &report.Error{Class: report.BadProject, What: fmt.Sprintf("the YAML is nested deeper than %d levels", yamlsize.Deepest),
			Hint: "no configuration needs as many: correct the file, or take it out of the kustomization"}
		if limit, ok := errors.AsType[*kustomizefs.LimitError](exceeded); ok {
			e.Where = fmt.Sprintf("%s:%d", limit.Path, deep.Line)
		}
		return e
	}
	return &report.Error{Class: report.BadProject, What: "the kustomization is too large to build", Err: exceeded, Hint: "replace the aliases by their contents, or divide the kustomization"}
}

// tooMuch is that refusal with the file that it is about.
func tooMuch(dir string, exceeded error) error {
	e := TooMuch(exceeded)
	e.Where = cmp.Or(e.Where, dir)
	if limit, ok := errors.AsType[*kustomizefs.LimitError](exceeded); ok && e.Err != nil {
		e.Where, e.Err = cmp.Or(limit.Path, dir), limit.Err
	}
	if errors.Is(exceeded, kustomizefs.ErrRemote) {
		e.Next = "slipway kustomize build " + shellword.Quote(dir)
	}
	return e
}

// toUnstructured goes through JSON, for kustomize's own maps hold int where an
// unstructured object must hold int64. Kustomize's way to JSON would write YAML first and parse that.
func toUnstructured(r *resource.Resource) (*unstructured.Unstructured, error) {
	fields, err := r.Map()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.CurId(), err)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.CurId(), err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("%s: %w", r.CurId(), err)
	}
	return object, nil
}

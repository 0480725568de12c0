package kustomization

import (
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/pkg/util"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/kustomizefs"
	"github.com/slipway-dev/slipway/internal/report"
)

// imagePlaceholder is what kubebuilder's manifests call the operator's image.
const imagePlaceholder = "controller"

// SplitImage takes an image apart that may say which other it replaces, as in `kustomize edit set image NAME=REF`.
// Without a name it replaces the one that kubebuilder's manifests have.
func SplitImage(text string) (replaces, image string) {
	if name, image, named := strings.Cut(text, "="); named {
		return name, image
	}
	return imagePlaceholder, text
}

// withImage is the disk as if an operator's image were set in the kustomizations of dir's tree, as
// `kustomize edit set image NAME=REF` would set it: in those that name it, wherever the project keeps its
// manager, and in that of dir itself. The files stay as they are: which image runs is a choice of one deployment and
// not a change of the project.
func withImage(disk filesys.FileSystem, dir, text string) (filesys.FileSystem, error) {
	top, err := kustomizationIn(dir)
	if err != nil {
		return nil, err
	}
	if top, err = readAs(top); err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "the kustomization cannot be read", Where: top, Err: err}
	}
	set := imaged{FileSystem: disk, top: top}
	set.replaces, set.image = SplitImage(text)
	return set, nil
}

// imaged is a disk of whose kustomizations some have an image set when they are read.
type imaged struct {
	filesys.FileSystem
	top             string // the kustomization that is built
	replaces, image string
}

// ReadFile reads a file. A kustomization in which no image can be set is read as it is: kustomize reports what is wrong
// with it.
func (i imaged) ReadFile(path string) ([]byte, error) {
	if !slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path)) {
		return i.FileSystem.ReadFile(path)
	}
	text, err := kustomizefs.Over(i.FileSystem).ReadFile(path) // before it is parsed
	if err != nil || path != i.top && !i.isNamed(text) {
		return text, err
	}
	if edited, err := i.setImage(text); err == nil {
		return edited, nil
	}
	return text, nil
}

// isNamed reports whether a kustomization sets the image that is replaced.
func (i imaged) isNamed(text []byte) bool {
	var k struct {
		Images, ImageTags []struct{ Name string }
	}
	if yaml.Unmarshal(text, &k) != nil {
		return false
	}
	return slices.ContainsFunc(append(k.Images, k.ImageTags...), func(set struct{ Name string }) bool { return set.Name == i.replaces })
}

// setImage returns the text of a kustomization with the image set in it, as kustomize's own edit command sets it, which
// also sorts the images. That command is not linked into each program that builds kustomizations.
func (i imaged) setImage(source []byte) ([]byte, error) {
	var k types.Kustomization
	if err := k.Unmarshal(source); err != nil {
		return nil, err
	}
	k.FixKustomization()
	set := types.Image{Name: i.replaces}
	set.NewName, set.NewTag, set.Digest = util.SplitImageName(i.image)
	k.Images = append(slices.DeleteFunc(k.Images, func(other types.Image) bool { return other.Name == i.replaces }), set)
	slices.SortStableFunc(k.Images, func(a, b types.Image) int { return strings.Compare(a.Name, b.Name) })
	return yaml.Marshal(k)
}

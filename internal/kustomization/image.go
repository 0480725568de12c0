package kustomization

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/edit"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/bounded"
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
		return nil, &report.Error{What: "the kustomization cannot be read", Where: top, Err: err}
	}
	set := imaged{FileSystem: disk, top: top}
	set.replaces, set.image = SplitImage(text)
	if _, err := set.setImage([]byte("resources: []\n")); err != nil {
		return nil, &report.Error{What: fmt.Sprintf("invalid image %q", text), Where: dir, Err: err,
			Hint: "use a reference such as registry.example.com/team/operator:v1"}
	}
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
	text, err := bounded.Over(i.FileSystem).ReadFile(path) // before it is parsed
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

// setImage runs kustomize's own edit command on the text of a kustomization.
func (i imaged) setImage(source []byte) ([]byte, error) {
	memory := filesys.MakeFsInMemory()
	name := konfig.DefaultKustomizationFileName()
	if err := memory.WriteFile(name, source); err != nil {
		return nil, err
	}
	depend := provider.NewDefaultDepProvider()
	cmd := edit.NewCmdEdit(memory, depend.GetFieldValidator(), depend.GetResourceFactory(), io.Discard)
	cmd.SetArgs([]string{"set", "image", i.replaces + "=" + i.image})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err != nil {
		return nil, err
	}
	return memory.ReadFile(name)
}

package ship

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/edit"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/report"
)

// imagePlaceholder is what kubebuilder's manifests call the operator's image.
const imagePlaceholder = "controller"

// withImage returns the disk, with an operator's image set in the kustomization of
// dir as `kustomize edit set image controller=REF` would set it. The file itself stays as it is:
// which image runs is a choice of one deployment and not a change of the project.
func withImage(dir, image string) (filesys.FileSystem, error) {
	path, err := kustomizationIn(dir)
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, &report.Error{What: "the kustomization cannot be read", Where: path, Err: err}
	}
	edited, err := setImage(source, image)
	if err != nil {
		return nil, &report.Error{What: fmt.Sprintf("%q cannot be the image", image), Where: path, Err: err,
			Hint: "expected a reference such as registry.example.com/team/operator:v1"}
	}
	if path, err = readAs(path); err != nil {
		return nil, &report.Error{What: "the kustomization cannot be read", Where: path, Err: err}
	}
	return overlay{filesys.MakeFsOnDisk(), path, edited}, nil
}

// readAs is the name by which kustomize asks for a file: absolute and without links.
func readAs(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// setImage runs kustomize's own edit command on the text of a kustomization.
func setImage(source []byte, image string) ([]byte, error) {
	memory := filesys.MakeFsInMemory()
	name := konfig.DefaultKustomizationFileName()
	if err := memory.WriteFile(name, source); err != nil {
		return nil, err
	}
	depend := provider.NewDefaultDepProvider()
	cmd := edit.NewCmdEdit(memory, depend.GetFieldValidator(), depend.GetResourceFactory(), io.Discard)
	cmd.SetArgs([]string{"set", "image", imagePlaceholder + "=" + image})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err != nil {
		return nil, err
	}
	return memory.ReadFile(name)
}

// overlay is the disk with another content of one file.
type overlay struct {
	filesys.FileSystem
	path    string
	content []byte
}

// ReadFile implements filesys.FileSystem.
func (o overlay) ReadFile(path string) ([]byte, error) {
	if path == o.path {
		return bytes.Clone(o.content), nil
	}
	return o.FileSystem.ReadFile(path)
}

package ship

import (
	"fmt"
	"io"

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
	source, err := ReadKustomization(dir)
	if err != nil {
		return nil, err
	}
	text, err := setImage(source, image)
	if err != nil {
		return nil, &report.Error{What: fmt.Sprintf("%q cannot be the image", image), Where: dir, Err: err,
			Hint: "expected a reference such as registry.example.com/team/operator:v1"}
	}
	return withKustomization(dir, text, func(_ string, other []byte) []byte { return other })
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

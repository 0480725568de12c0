package ship

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/edit"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/image/reference"
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

// RunsImage reports whether one of objects has a container of that image, as kustomize writes it: a name without a tag keeps the tag that
// was there.
func RunsImage(objects []*unstructured.Unstructured, image string) bool {
	_, wantedTag, digest := reference.Split(image)
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
		return anyImage(o.Object, func(is string) bool {
			switch {
			case is == image:
				return true
			case digest != "":
				return strings.HasSuffix(is, "@"+digest)
			}
			repository, tag, _ := reference.Split(is)
			return wantedTag == "" && tag != "" && repository == image
		})
	})
}

// anyImage tells whether a field called image, wherever it is, has a value that fits.
func anyImage(value any, fits func(string) bool) bool {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if text, ok := field.(string); name == "image" && ok && fits(text) || anyImage(field, fits) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return anyImage(item, fits) })
	}
	return false
}

package codebase

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// A Written is a Deployment as a file of the project has it, before kustomize renames or patches it. Patches and
// selectors use its names.
type Written struct {
	File            string
	Line            int // of metadata.name
	Name, Namespace string
	Account         string
	Containers      []string
	Index           int        // of the manager's container
	Selector        yaml3.Node // spec.selector.matchLabels
	ContainerLines  []int
	Variables       [][]string // names of each container's environment variables
}

// originAnnotation is where kustomize, if asked to, records the file that an object is from.
const originAnnotation = "config.kubernetes.io/origin"

// written finds the Deployment in the project's files that became the built object, or nil. If several names fit, the
// longest wins.
func (c *Codebase) written(folder string, built *unstructured.Unstructured) *Written {
	file := originOf(folder, built)
	if file == "" {
		return nil
	}
	text, err := c.view.ReadFile(file)
	if err != nil {
		return nil // kustomize fetched it
	}
	var found *Written
	for decoder := yaml3.NewDecoder(bytes.NewReader(text)); ; {
		var object struct {
			Kind     string
			Metadata struct{ Name, Namespace yaml3.Node }
			Spec     struct {
				Selector struct {
					MatchLabels yaml3.Node `yaml:"matchLabels"`
				}
				Template struct {
					Spec struct {
						ServiceAccountName string `yaml:"serviceAccountName"`
						Containers         []struct {
							Name yaml3.Node
							Env  []struct{ Name string }
						}
					}
				}
			}
		}
		if decoder.Decode(&object) != nil {
			return found // end of the file, or invalid YAML
		}
		name := object.Metadata.Name
		if object.Kind != built.GetKind() || !strings.Contains(built.GetName(), name.Value) || found != nil && len(found.Name) >= len(name.Value) {
			continue
		}
		pod := object.Spec.Template.Spec
		found = &Written{File: file, Line: name.Line, Name: name.Value, Namespace: object.Metadata.Namespace.Value, Account: pod.ServiceAccountName,
			Selector: object.Spec.Selector.MatchLabels}
		for _, container := range pod.Containers {
			found.Containers, found.ContainerLines = append(found.Containers, container.Name.Value), append(found.ContainerLines, container.Name.Line)
			var variables []string
			for _, v := range container.Env {
				variables = append(variables, v.Name)
			}
			found.Variables = append(found.Variables, variables)
		}
	}
}

// deploymentsOnly edits kustomizations so that they build little else than Deployments. Remote resources and files that
// are not generated yet would fail the build. Kustomize records the origin of each object.
func (c *Codebase) deploymentsOnly(name string, text []byte) ([]byte, error) {
	var k types.Kustomization
	if _, err := yamlsize.Growth(text); err != nil || !IsKustomization(name) || k.Unmarshal(text) != nil {
		return text, nil // kustomize reports the mistake
	}
	folder := path.Dir(name)
	k.FixKustomization()
	if err := k.FixKustomizationPreMarshalling(kustomizationFS{view: c.view, folder: folder}); err != nil {
		return nil, err
	}
	k.Resources = slices.DeleteFunc(k.Resources, func(entry string) bool { return !c.mayDeploy(folder, entry) })
	k.Components = slices.DeleteFunc(k.Components, func(entry string) bool { return !c.mayDeploy(folder, entry) })
	k.Patches = slices.DeleteFunc(k.Patches, func(patch types.Patch) bool {
		switch {
		case patch.Target != nil && patch.Target.Kind != "" && patch.Target.Kind != deploymentKind:
			return true
		case patch.Path == "":
			return patch.Target == nil && !strings.Contains(patch.Patch, deploymentKind)
		case patch.Target == nil:
			return !c.mayDeploy(folder, patch.Path)
		}
		name, inside := projectPath(folder, patch.Path)
		return !inside || !isRegular(c.view, name)
	})
	return yaml.Marshal(types.Kustomization{
		TypeMeta: k.TypeMeta, Resources: k.Resources, Components: k.Components, Patches: k.Patches, Transformers: k.Transformers, Images: k.Images, Replicas: k.Replicas,
		NamePrefix: k.NamePrefix, NameSuffix: k.NameSuffix, Namespace: k.Namespace, Labels: k.Labels, Configurations: k.Configurations, BuildMetadata: []string{types.OriginAnnotations},
	})
}

// mayDeploy reports whether an entry of a kustomization is in the project and may contain a Deployment.
func (c *Codebase) mayDeploy(folder, entry string) bool {
	name, inside := projectPath(folder, entry)
	if !inside {
		return false
	}
	if info, err := c.view.Stat(name); err == nil && info.IsDir() {
		return c.Kustomization(name) != ""
	}
	text, err := c.view.ReadFile(name)
	return err == nil && bytes.Contains(text, []byte(deploymentKind))
}

// kustomizationFS is the file system for what a kustomization names relative to its folder.
type kustomizationFS struct {
	filesys.FileSystem
	view   fileview.View
	folder string
}

func (b kustomizationFS) ReadFile(entry string) ([]byte, error) {
	name, inside := projectPath(b.folder, entry)
	if !inside || strings.Contains(entry, "\n") {
		return nil, fs.ErrNotExist
	}
	return b.view.ReadFile(name)
}

package codebase

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/aliases"
)

// A Written is a Deployment in a file of the project, which patches and selectors of the same kustomization name.
type Written struct {
	File            string
	Line            int // of its name
	Name, Namespace string
	Account         string
	Containers      []string
	Index           int       // of the manager's container
	Selector        yaml.Node // the labels of its pods
	ContainerLines  []int
}

// originAnnotation is what kustomize, where it is asked for it, says of the file that an object is from.
const originAnnotation = "config.kubernetes.io/origin"

// written finds what a built object was written as.
func (c *Codebase) written(folder string, built *unstructured.Unstructured) *Written {
	var from struct{ Path string }
	if yaml.Unmarshal([]byte(built.GetAnnotations()[originAnnotation]), &from) != nil || from.Path == "" {
		return nil
	}
	file := path.Join(folder, from.Path)
	text, err := c.view.ReadFile(file)
	if err != nil {
		return nil // it is fetched
	}
	var found *Written
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object struct {
			Kind     string
			Metadata struct{ Name, Namespace yaml.Node }
			Spec     struct {
				Selector struct {
					MatchLabels yaml.Node `yaml:"matchLabels"`
				}
				Template struct {
					Spec struct {
						ServiceAccountName string `yaml:"serviceAccountName"`
						Containers         []struct{ Name yaml.Node }
					}
				}
			}
		}
		if decoder.Decode(&object) != nil {
			return found // the file ends, or cannot be read further on
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
		}
	}
}

// present edits files for a build of what is there: kustomizations do not list what is fetched or not made yet, and
// kustomize notes the file of each object.
func (c *Codebase) present(name string, text []byte) ([]byte, error) {
	if !IsKustomization(name) {
		return text, nil
	}
	if _, err := aliases.Growth(text); err != nil {
		return text, nil // kustomize's reader refuses it
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil || len(node.Content) == 0 || node.Content[0].Kind != yaml.MappingNode {
		return text, nil
	}
	root := node.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch root.Content[i].Value {
		case "resources", "bases", "components":
			list := root.Content[i+1]
			list.Content = slices.DeleteFunc(list.Content, func(entry *yaml.Node) bool { return c.absent(path.Dir(name), entry.Value) })
		}
	}
	if at := slices.IndexFunc(root.Content, func(key *yaml.Node) bool { return key.Value == "buildMetadata" }); at >= 0 && at+1 < len(root.Content) {
		root.Content = slices.Delete(root.Content, at, at+2)
	}
	root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "buildMetadata"},
		&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "originAnnotations"}}})
	return yaml.Marshal(&node)
}

// absent reports whether an entry of a kustomization is not in the project, or names a folder without a kustomization.
func (c *Codebase) absent(folder, entry string) bool {
	name, inside := within(folder, entry)
	info, err := c.view.Stat(cmp.Or(name, "."))
	switch {
	case !inside:
		return true
	case err != nil:
		return errors.Is(err, fs.ErrNotExist)
	}
	return info.IsDir() && c.Kustomization(name) == ""
}

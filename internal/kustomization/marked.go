package kustomization

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/kustomizefs"
)

// The annotations that generated roles carry through a build: the namespace that their marker names, empty for none,
// and the name, if several have it.
const (
	namespaceNote = "slipway.dev/note-namespace"
	nameNote      = "slipway.dev/note-name"
)

// placeholder is what layouts call the operator's namespace.
const placeholder = "system"

// noted is a disk that keeps what a build does not tell: the namespaces that its kustomizations give, and where
// generated roles belong. Kustomize reads a kustomization before what it lists.
type noted struct {
	filesys.FileSystem
	roles      []string // files with generated roles, without links
	namespaces []string
}

// note is a disk with these files of generated roles, by absolute paths.
func note(disk filesys.FileSystem, roles []string) *noted {
	n := &noted{FileSystem: disk}
	for _, file := range roles {
		n.roles = append(n.roles, withoutLinks(file))
	}
	return n
}

// ReadFile reads a file.
func (n *noted) ReadFile(path string) ([]byte, error) {
	isKustomization := slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path))
	if !isKustomization && !slices.Contains(n.roles, path) {
		return n.FileSystem.ReadFile(path)
	}
	text, err := kustomizefs.Over(n.FileSystem).ReadFile(path) // before it is parsed
	if err != nil {
		return nil, err
	}
	if !isKustomization {
		return n.noteRoles(text), nil
	}
	var says struct{ Namespace string }
	if yaml.Unmarshal(text, &says) == nil && says.Namespace != "" && !slices.Contains(n.namespaces, says.Namespace) {
		n.namespaces = append(n.namespaces, says.Namespace)
	}
	return text, nil
}

// isOwn reports whether a namespace that a marker names is the operator's own, which follows the kustomizations.
func (n *noted) isOwn(namespace string) bool {
	return namespace == placeholder || slices.Contains(n.namespaces, namespace)
}

// noteRoles adds the notes to generated roles. Roles of one name in several namespaces get other names for a build in
// which they would all be in one; where no kustomization gives a namespace they stay as they are, and bindings find
// them. A text of another form is left to kustomize.
func (n *noted) noteRoles(text []byte) []byte {
	documents := bytes.Split(text, []byte("\n---\n"))
	roles, named := make([]generatedRole, len(documents)), map[string]int{}
	for i, document := range documents {
		if yaml.Unmarshal(document, &roles[i]) != nil {
			return text
		}
		named[roles[i].Kind+"/"+roles[i].Metadata.Name]++
	}
	for i, role := range roles {
		if !strings.HasSuffix(role.Kind, "Role") || role.Metadata.Name == "" {
			continue
		}
		notes := map[string]string{namespaceNote: role.Metadata.Namespace}
		if len(n.namespaces) > 0 && named[role.Kind+"/"+role.Metadata.Name] > 1 && !n.isOwn(role.Metadata.Namespace) {
			notes[nameNote] = role.Metadata.Name
			role.Metadata.Name += "-of-" + role.Metadata.Namespace
		}
		role.Metadata.Annotations = notes
		document, err := yaml.Marshal(role)
		if err != nil {
			return text
		}
		documents[i] = document
	}
	return bytes.Join(documents, []byte("\n---\n"))
}

// A generatedRole is all that the generator writes of a role.
type generatedRole struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Metadata   roleMetadata `json:"metadata"`
	Rules      []any        `json:"rules"`
}

type roleMetadata struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Package manifest reads the objects that a cluster is prepared with, custom
// resource definitions and webhook configurations, from YAML and JSON files, and
// points their webhooks to a server on this machine.
package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// Kinds are the kinds of one API group that a reader is after.
type Kinds struct {
	schema.GroupVersion
	Names []string
	Next  string // the command that makes such files
}

// The kinds that tests install.
var (
	CRDs = Kinds{schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1"},
		[]string{"CustomResourceDefinition"}, "slipway generate"}
	Webhooks = Kinds{schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"},
		[]string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}, "slipway generate"}
	Roles = Kinds{schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}, []string{"ClusterRole", "Role"}, "slipway generate"}
)

// Read returns the objects of the given kinds in the files at paths: a path is a file, or a folder whose
// files ending in .yaml, .yml and .json are read, without its subfolders. Objects of
// other kinds are left out. Every path must have an object, and every object a name of its own.
func Read(kinds Kinds, paths ...string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	origin := map[string]string{}
	for _, path := range paths {
		found, err := kinds.read(path, origin)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, &fault.Error{What: "there is no " + kinds.list() + " to install", Where: absolute(path),
				Hint: "name a file or a folder with such objects; subfolders are not read", Next: kinds.Next}
		}
		all = append(all, found...)
	}
	return all, nil
}

// read reads one path. In origin it keeps where each object was found.
func (k Kinds) read(path string, origin map[string]string) ([]*unstructured.Unstructured, error) {
	files, err := list(path)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return nil, &fault.Error{What: "cannot read the files to install", Where: absolute(path), Err: err,
			Hint: "use a path; relative ones begin at the folder of the package under test", Next: k.Next}
	}
	var found []*unstructured.Unstructured
	for _, file := range files {
		objects, err := k.readFile(file)
		if err != nil {
			return nil, &fault.Error{What: "cannot read a manifest", Where: absolute(file), Err: err}
		}
		for _, o := range objects {
			id := o.GetKind() + " " + o.GetName()
			if first, ok := origin[id]; ok {
				return nil, &fault.Error{What: "two objects to install have the same name: " + id, Where: absolute(file),
					Err: errors.New("the other one is in " + first), Hint: "remove one, or change its metadata.name"}
			}
			origin[id] = absolute(file)
		}
		found = append(found, objects...)
	}
	return found, nil
}

// list returns the files that path means.
func list(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, nil
}

// readFile returns the objects of one file.
func (k Kinds) readFile(file string) ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &o.Object); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		switch wanted, err := k.wants(o); {
		case err != nil:
			return nil, fmt.Errorf("document %d: %w", n, err)
		case wanted:
			found = append(found, o)
		}
	}
}

// wants tells whether o is of these kinds, and refuses versions that are long gone.
func (k Kinds) wants(o *unstructured.Unstructured) (bool, error) {
	gvk := o.GroupVersionKind()
	if gvk.Group != k.Group || !slices.Contains(k.Names, gvk.Kind) {
		return false, nil
	}
	if gvk.Version != k.Version {
		return false, fmt.Errorf("%s %s has the version %s, which is no longer served: use %s", gvk.Kind, o.GetName(), gvk.Version, k.GroupVersion)
	}
	if o.GetName() == "" {
		return false, fmt.Errorf("a %s has no name", gvk.Kind)
	}
	return true, nil
}

func (k Kinds) list() string { return strings.Join(k.Names, " or ") }

// absolute is path for messages.
func absolute(path string) string {
	if a, err := filepath.Abs(path); err == nil {
		return a
	}
	return path
}

package modulekinds

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Limits of what is read of a module.
const (
	maxFile    = 4 << 20   // bytes; definitions have less than a megabyte
	maxRead    = 256 << 20 // bytes of all files
	maxEntries = 100_000   // files and folders
)

// folder is a module's folder.
type folder struct {
	root *os.Root
	left int64 // bytes that may still be read
}

// match is a definition in a file of a module.
type match struct {
	object *unstructured.Unstructured
	file   string
}

// search finds the best definition of each kind in a module's folder.
func search(dir string, wanted []schema.GroupVersionKind, best []match) {
	if len(wanted) == 0 {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }() // only read
	module := &folder{root, maxRead}
	left := maxEntries
	_ = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		left--
		switch {
		case left < 0:
			return fs.SkipAll
		case err != nil:
			return nil // what cannot be read is not found
		case entry.IsDir():
			return enter(name)
		case entry.Type().IsRegular() && (path.Ext(name) == ".yaml" || path.Ext(name) == ".yml"):
			module.consider(name, wanted, best)
		}
		return nil
	})
}

// enter skips folders that have no definitions for others.
func enter(name string) error {
	base := path.Base(name)
	if name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "vendor" || base == "node_modules") {
		return fs.SkipDir
	}
	return nil
}

// consider reads a file that may have a definition of a kind better than the best one yet.
func (f *folder) consider(name string, wanted []schema.GroupVersionKind, best []match) {
	text, err := f.read(name)
	if err != nil || !bytes.Contains(text, []byte("CustomResourceDefinition")) {
		return
	}
	objects := definitionsIn(text)
	for i, k := range wanted {
		at := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return defines(o, k) })
		if at >= 0 && (best[i].object == nil || compare(name, best[i].file) < 0) {
			best[i] = match{objects[at], name}
		}
	}
}

// errLarge says that no more is read.
var errLarge = errors.New("larger than what is read of a module")

// read reads a file of the module, unless it or what was read before is too large.
func (f *folder) read(name string) ([]byte, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > min(maxFile, f.left) {
		return nil, errLarge
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, info.Size()))
	f.left -= int64(len(text))
	return text, err
}

// places are parts of paths at which projects keep definitions, the usual ones first.
var places = []string{"config/crd/bases/", "config/crd/", "deploy/crds/", "crds/", "crd/"}

// variants are words in the paths of definitions that are not those for everyone; some are OpenShift's feature sets.
var variants = []string{
	"experimental", "customnoupgrade", "devpreviewnoupgrade", "techpreviewnoupgrade", "hypershift",
	"test", "tests", "e2e", "example", "examples",
}

// compare orders files by how likely they have the definition that users of the module install.
func compare(a, b string) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
}

func rank(name string) int {
	place := slices.IndexFunc(places, func(p string) bool { return strings.Contains("/"+name, "/"+p) })
	if place < 0 {
		place = len(places)
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(variants, w) }) {
		place += len(places) + 1
	}
	return place
}

// definitionsIn are the definitions in a text, without what is not the concern of another cluster. A document that is
// no YAML, such as a chart's template, or whose aliases would fill the memory ends them.
func definitionsIn(text []byte) (all []*unstructured.Unstructured) {
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := documents.Read()
		if err != nil {
			return all
		}
		o := &unstructured.Unstructured{}
		if !staysSmall(document) || yaml.Unmarshal(document, &o.Object) != nil {
			return all
		}
		if o.GetAPIVersion() == "apiextensions.k8s.io/v1" && o.GetKind() == "CustomResourceDefinition" {
			all = append(all, reduced(o))
		}
	}
}

// reduced is a definition for another cluster. Conversion by a webhook is left out, since its server is not there.
func reduced(o *unstructured.Unstructured) *unstructured.Unstructured {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	delete(spec, "conversion")
	made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "spec": spec}}
	made.SetName(o.GetName())
	made.SetLabels(o.GetLabels())
	made.SetAnnotations(o.GetAnnotations())
	return made
}

// isDefined reports whether one of the objects defines a kind.
func isDefined(k schema.GroupVersionKind, objects []*unstructured.Unstructured) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return defines(o, k) })
}

// defines reports whether an object defines a kind, in its version.
func defines(o *unstructured.Unstructured, k schema.GroupVersionKind) bool {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(o.Object, fields...)
		return value
	}
	if text("spec", "group") != k.Group || text("spec", "names", "kind") != k.Kind || o.GetName() != text("spec", "names", "plural")+"."+k.Group {
		return false
	}
	versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
	return slices.ContainsFunc(versions, func(v any) bool {
		version, _ := v.(map[string]any)
		return version["served"] == true && version["name"] == k.Version
	})
}

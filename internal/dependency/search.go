package dependency

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// Limits of what is read of a module.
const (
	maxFile    = 4 << 20   // bytes; definitions have less than a megabyte
	maxRead    = 256 << 20 // bytes of all files
	maxEntries = 100_000   // files and folders
)

// Why something in a module is not read.
var (
	errLarge = errors.New("it is larger than the limit")
	errKind  = errors.New("it is not a regular file")
)

// folder is a module's folder.
type folder struct {
	root *os.Root
	left int64
	err  error // why the first file could not be read that cannot
}

func openModule(dir string) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, left: maxRead}, nil
}

func (f *folder) close() { _ = f.root.Close() } // only read

func (f *folder) Open(name string) (fs.File, error) { return f.root.FS().Open(name) }

// ReadFile reads a regular file of the module, which is not a link.
func (f *folder) ReadFile(name string) (content []byte, err error) {
	defer func() { f.err = cmp.Or(f.err, err) }()
	info, err := f.root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: name, Err: errKind}
	case info.Size() > min(maxFile, f.left):
		return nil, &fs.PathError{Op: "read", Path: name, Err: errLarge}
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f.left -= info.Size()
	return io.ReadAll(io.LimitReader(file, info.Size()))
}

// search finds definitions in the folders of modules. It returns the kinds that have none there.
func (f *Found) search(ctx context.Context, kinds []kind) (left []kind) {
	byModule := map[string][]kind{}
	for _, k := range kinds {
		byModule[k.module.Dir] = append(byModule[k.module.Dir], k)
	}
	for dir, wanted := range byModule {
		if dir == "" {
			left = append(left, wanted...)
			continue
		}
		best := searchModule(ctx, dir, wanted)
		for i, k := range wanted {
			if best[i].object == nil {
				left = append(left, k)
				continue
			}
			f.add(best[i].object, k.module.name()+" "+best[i].file)
		}
	}
	slices.SortFunc(left, func(a, b kind) int { return cmp.Compare(a.full(), b.full()) })
	return left
}

// add adds a definition, once: two versions of a kind have one.
func (f *Found) add(object *unstructured.Unstructured, origin string) {
	if !slices.ContainsFunc(f.Definitions, func(d Definition) bool { return d.Object.GetName() == object.GetName() }) {
		f.Definitions = append(f.Definitions, Definition{object, origin})
	}
}

// match is a definition in a file of a module.
type match struct {
	object *unstructured.Unstructured
	file   string
}

// searchModule finds the best definition of each kind.
func searchModule(ctx context.Context, dir string, wanted []kind) []match {
	best := make([]match, len(wanted))
	module, err := openModule(dir)
	if err != nil {
		return best
	}
	defer module.close()
	entries := maxEntries
	_ = fs.WalkDir(module.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		entries--
		switch {
		case ctx.Err() != nil || entries < 0:
			return fs.SkipAll
		case err != nil:
			return nil // what cannot be read is not found
		case entry.IsDir():
			return enterModule(name)
		case !entry.Type().IsRegular() || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml":
			return nil
		}
		module.consider(name, wanted, best)
		return nil
	})
	return best
}

// enterModule skips folders of a module that have no definitions for others. It looks into all that are not certain to
// have none: the module is another project's. The operator's tests search by the same rule.
func enterModule(name string) error {
	base := path.Base(name)
	if name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "vendor" || base == "node_modules") {
		return fs.SkipDir
	}
	return nil
}

// consider reads a file that may have a definition of a wanted kind better than the best one yet.
func (f *folder) consider(name string, wanted []kind, best []match) {
	better := func(i int) bool { return best[i].object == nil || compareFiles(name, best[i].file) < 0 }
	text, err := f.ReadFile(name)
	if err != nil || !bytes.Contains(text, []byte("CustomResourceDefinition")) {
		return
	}
	var objects []*unstructured.Unstructured
	for i, k := range wanted {
		if !better(i) || !bytes.Contains(text, []byte(k.name)) {
			continue
		}
		if objects == nil {
			objects = definitionsIn(text)
		}
		at := slices.IndexFunc(objects, k.isDefinedBy)
		if at >= 0 {
			best[i] = match{objects[at], name}
		}
	}
}

// places are parts of paths at which projects keep definitions, the usual ones first.
var places = []string{"config/crd/bases/", "config/crd/", "deploy/crds/", "crds/", "crd/"}

// variants are words in the paths of definitions that are not those for everyone; some are OpenShift's feature sets.
var variants = []string{
	"experimental", "customnoupgrade", "devpreviewnoupgrade", "techpreviewnoupgrade", "hypershift",
	"test", "tests", "e2e", "example", "examples",
}

// compareFiles orders files by how likely they have the definition that users of the module install.
func compareFiles(a, b string) int {
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
func definitionsIn(text []byte) []*unstructured.Unstructured {
	all := []*unstructured.Unstructured{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if err != nil {
			return all
		}
		object := &unstructured.Unstructured{}
		if yamlsize.Check(document) != nil || yaml.Unmarshal(document, &object.Object) != nil {
			return all
		}
		if object.GetAPIVersion() == "apiextensions.k8s.io/v1" && object.GetKind() == "CustomResourceDefinition" {
			all = append(all, reduced(object))
		}
	}
}

// reduced is a definition for another cluster.
func reduced(object *unstructured.Unstructured) *unstructured.Unstructured {
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	delete(spec, "conversion")
	made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "spec": spec}}
	made.SetName(object.GetName())
	made.SetLabels(object.GetLabels())
	made.SetAnnotations(object.GetAnnotations())
	return made
}

// isDefinedBy reports whether an object defines the kind, in its version.
func (k kind) isDefinedBy(object *unstructured.Unstructured) bool {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, fields...)
		return value
	}
	group := text("spec", "group")
	if text("spec", "names", "kind") != k.name || !slices.Contains(k.groups, group) || object.GetName() != text("spec", "names", "plural")+"."+group {
		return false
	}
	versions, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
	return slices.ContainsFunc(versions, func(v any) bool {
		version, _ := v.(map[string]any)
		return version["served"] == true && (version["name"] == k.version || !versioned().MatchString(k.version))
	})
}

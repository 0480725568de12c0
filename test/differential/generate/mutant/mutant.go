// Package mutant makes API packages that no developer would write, from a seed: types and markers of every kind in
// every place, most of them right and some wrong.
//
//	source := mutant.New(seed, definitions)
//	err := source.Write(dir)
//
// The same seed makes the same package. Two programs that read packages are
// compared on what they make of it.
package mutant

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

// Source is one mutant.
type Source struct {
	// Files are its files, by name relative to its folder.
	Files map[string]string
	// Roots are the folders, relative to its own, of the packages to generate for;
	// others are only imported.
	Roots []string
	// Options are those of the crd generator.
	Options string
	// Markers are the markers in it, as name and target.
	Markers []string
}

// New makes the mutant of a seed out of the given markers, of which one is chosen
// by the seed: as many seeds in a row as there are markers have them all. Path is
// the import path of its folder.
func New(seed uint64, path string, definitions []oracle.Definition) Source {
	w := &writer{
		Rand:        rand.New(rand.NewPCG(seed, 4)),
		definitions: definitions,
		source:      Source{Files: make(map[string]string)},
		path:        path,
	}
	if w.chance(25) {
		w.wild = 6
	}
	if len(definitions) > 0 {
		w.focus = definitions[seed%uint64(len(definitions))]
	}
	w.options()
	versions := []string{"v1"}
	if w.chance(15) {
		versions = append(versions, w.pick("v1beta1", "v2", "v1alpha1"))
	}
	w.shared()
	for _, v := range versions {
		w.version(v, len(versions) > 1)
		w.source.Roots = append(w.source.Roots, v)
	}
	return w.source
}

// Write writes the files below dir.
func (s Source) Write(dir string) error {
	for name, content := range s.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writer makes one mutant.
type writer struct {
	*rand.Rand
	strings.Builder
	definitions []oracle.Definition
	source      Source
	path        string
	wild        int               // percent of markers that may be wrong
	focus       oracle.Definition // a marker that must be there
	named       []namedType
	sharedNames []namedType
}

// namedType is a declared type that fields may have.
type namedType struct {
	name string
	kind kind
}

func (w *writer) chance(percent int) bool { return w.IntN(100) < percent }

func (w *writer) pick(from ...string) string { return from[w.IntN(len(from))] }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) options() {
	var chosen []string
	for _, o := range []string{
		"maxDescLen=0", "maxDescLen=12", "maxDescLen=40", "maxDescLen=-1", "allowDangerousTypes=true", "allowDangerousTypes=false",
		"generateEmbeddedObjectMeta=true", "generateEmbeddedObjectMeta=false", "crdVersions=v1", "crdVersions={v1,v1}", "crdVersions=v1;v1",
		"headerFile=header.txt", "year=2031", "ignoreUnexportedFields=true", "ignoreUnexportedFields=false", "omitToolVersion=true",
		"deprecatedV1beta1CompatibilityPreserveUnknownFields=true", "deprecatedV1beta1CompatibilityPreserveUnknownFields=false",
	} {
		name, _, _ := strings.Cut(o, "=")
		repeated := slices.ContainsFunc(chosen, func(c string) bool { return strings.HasPrefix(c, name+"=") })
		if !repeated && w.chance(8) {
			chosen = append(chosen, o)
		}
	}
	w.source.Options = strings.Join(chosen, ",")
}

// flush ends a file.
func (w *writer) flush(name string) {
	w.source.Files[name] = w.String()
	w.Reset()
}

const imports = `import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
`

const used = `
var (
	_ corev1.Pod
	_ apiextensionsv1.JSON
	_ resource.Quantity
	_ metav1.Time
	_ runtime.RawExtension
	_ intstr.IntOrString
`

// shared is a package that the versions import and that is no root.
func (w *writer) shared() {
	kinds := w.chance(12)
	if kinds {
		w.line("// +groupName=example.com")
	}
	w.line("package shared\n\n%s)\n%s)\n", imports, used)
	w.types("Shared", 1+w.IntN(2))
	if kinds { // versions of what the roots declare
		for _, kind := range []string{"Kind", "KindIndex"} {
			w.line("// +kubebuilder:storageversion\n\n// %s is in a package that is no root.\ntype %s struct {", kind, kind)
			w.line("\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n}\n")
		}
	}
	w.sharedNames, w.named = w.named, nil
	w.flush("shared/types.go")
}

// version is a package with a kind.
func (w *writer) version(name string, several bool) {
	w.named = nil
	w.docLines("", name+" is a version.")
	group := w.pick("example.com", "example.com", "example.com", "a.b.example.com", "")
	if several {
		group = "example.com"
	}
	w.line("// +groupName=%s", group)
	w.markers("package", anyKind, "", w.IntN(8)/6)
	if w.focus.Target == "package" {
		w.put(w.focus, anyKind, "")
	}
	w.line("package %s\n\n%s\n\tshared \"%s/shared\"\n)\n%s\n\t_ shared.Shared0\n)\n", name, imports, w.path, used)
	w.types("Local", 2+w.IntN(4))
	focused := w.focused()
	w.structure("KindSpec", 3+w.IntN(6), focused...)
	w.structure("KindStatus", w.IntN(3))
	for i := range 1 + w.IntN(5)/4 {
		w.root(fmt.Sprintf("Kind%s", []string{"", "Index"}[i]), name, several)
	}
	w.flush(name + "/types.go")
}

func (w *writer) root(kind, version string, several bool) {
	if several && version == "v1" && w.chance(95) {
		w.line("// +kubebuilder:storageversion")
		w.line("")
	}
	if several && version != "v1" && w.chance(25) {
		marker := w.pick("kubebuilder:skipversion", "kubebuilder:unservedversion")
		w.source.Markers = append(w.source.Markers, marker+" type")
		w.line("// +%s\n", marker)
	}
	fields := []string{
		"\tmetav1.TypeMeta `json:\",inline\"`",
		"\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`",
		"\tSpec KindSpec `json:\"spec,omitempty\"`",
		"\tStatus " + w.pick("", "*") + "KindStatus `json:\"status,omitempty\"`",
	}
	w.comment("type", structKind, "", kind, w.IntN(6))
	if w.focus.Target == "type" && aboutKinds(w.focus.Name) && !(strings.Contains(w.focus.Name, "skipversion") && !several) {
		w.line("")
		w.put(w.focus, structKind, "")
	}
	w.line("type %s struct {", kind)
	for _, f := range fields {
		if w.chance(30) {
			w.comment("field", structKind, "\t", "It", w.IntN(2))
		}
		w.line("%s", f)
	}
	w.line("}\n")
}

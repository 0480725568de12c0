// Package kind knows what scaffolded code needs to know about one kind: who defines it, its names in Go code, its
// registration with a scheme, an object for tests, and which version is stored.
package kind

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// CheckNames refuses names of a kind that Kubernetes or Go would refuse.
func CheckNames(group, version, kind, plural string) error {
	for _, err := range []error{project.ValidateGroup(group), project.ValidateVersion(version), project.ValidateKind(kind), project.ValidatePlural(plural)} {
		if err != nil {
			return projectfile.InvalidName(err)
		}
	}
	return nil
}

// Foreign reports whether Kubernetes or another module defines the types.
func Foreign(r project.Resource) bool { return r.Core || r.External }

// CheckBuiltin refuses a new kind that Kubernetes does not have; see [codebase.Versions.CheckBuiltin]. If that is
// unknown, it leaves the check to the user. Again returns the command for a kind to suggest.
func CheckBuiltin(p *plan.Plan, r project.Resource, recorded *project.Resource, again func(project.Resource) string) error {
	if recorded != nil || !r.Core {
		return nil
	}
	unknown, err := p.Code().Versions().CheckBuiltin(r, again)
	if unknown != "" {
		p.Leave(unknown)
	}
	return err
}

// PathToRoot is the path from a folder of the project to the root, as arguments of filepath.Join.
func PathToRoot(dir string) string {
	return strings.Repeat(`"..", `, strings.Count(path.Clean(dir), "/")) + `".."`
}

// A CoreObject describes how tests create an object of a kind of Kubernetes.
type CoreObject struct {
	Namespaced  bool
	PodTemplate bool   // the spec has types of core/v1, to be imported
	Spec        string // a Go expression, indented for its place; "" for none
}

const corePod = `corev1.PodSpec{
	Containers: []corev1.Container{{Name: "main", Image: "example.com/image"}},
}`

var coreObjects = map[string]CoreObject{
	"core/ConfigMap":      {Namespaced: true},
	"core/Namespace":      {},
	"core/Secret":         {Namespaced: true},
	"core/ServiceAccount": {Namespaced: true},
	"core/Pod":            {Namespaced: true, PodTemplate: true, Spec: corePod},
	"core/Service":        {Namespaced: true, PodTemplate: true, Spec: "corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}"},
	"apps/Deployment":     {Namespaced: true, PodTemplate: true, Spec: workload("Deployment")},
	"apps/StatefulSet":    {Namespaced: true, PodTemplate: true, Spec: workload("StatefulSet")},
	"apps/DaemonSet":      {Namespaced: true, PodTemplate: true, Spec: workload("DaemonSet")},
	"apps/ReplicaSet":     {Namespaced: true, PodTemplate: true, Spec: workload("ReplicaSet")},
}

func workload(kind string) string {
	return `appsv1.` + kind + `Spec{
	Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "test"}},
	Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "test"}},
		Spec: ` + strings.ReplaceAll(corePod, "\n", "\n\t\t") + `,
	},
}`
}

// CoreObjectOf returns how tests create an object of the kind, or nil if they cannot.
func CoreObjectOf(r project.Resource) *CoreObject {
	object, ok := coreObjects[r.Group+"/"+r.Kind]
	if !ok || !r.Core || r.Version != "v1" {
		return nil
	}
	object.PodTemplate = object.PodTemplate && r.Group != "core" // the types of core are imported already
	return &object
}

// An External is the place of Go types in another module.
type External struct {
	Path   string // import path
	Domain string // of the API group
	Module string // the module, with an optional @version
}

// Check refuses paths that Go would refuse later.
func (e External) Check() error {
	if e.Path == "" {
		if e.Domain != "" || e.Module != "" {
			return &report.Error{What: "the import path of the types is missing", Where: "--external-api-path", Hint: "add --external-api-path, such as github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"}
		}
		return nil
	}
	if err := module.CheckImportPath(e.Path); err != nil {
		return &report.Error{What: "invalid import path of the types", Where: "--external-api-path " + e.Path, Err: err}
	}
	name, version, ok := strings.Cut(e.Module, "@")
	if e.Module == "" {
		return nil
	}
	if err := module.CheckPath(name); err != nil || ok && version == "" {
		return &report.Error{What: "invalid module of the types", Where: "--external-api-module " + e.Module, Hint: "use a module and its version, such as github.com/cert-manager/cert-manager@v1.18.2", Err: err}
	}
	if e.Path != name && !strings.HasPrefix(e.Path, name+"/") {
		return &report.Error{What: "that module does not have the types", Where: "--external-api-module " + e.Module, Hint: e.Path + " does not begin with " + name}
	}
	return nil
}

// SchemePieces imports the types of r and registers them with code, in which %s stands for their package.
func SchemePieces(p *project.Project, r project.Resource, imports gofile.Imports, code string) []plan.Piece {
	if !Registers(r) {
		return nil
	}
	pkg := p.ImportPath(r)
	name := imports.Name(pkg, r.ImportAlias())
	var of []plan.Piece
	registers := piece.Fragment{Marker: "scheme", Code: fmt.Sprintf(code, name), Key: name + ".AddToScheme("}
	if strings.HasPrefix(code, "utilruntime.") {
		of = append(of, piece.ImportFor{Import: piece.Import{Name: "utilruntime", Path: utilRuntime, Module: p.Repo}, User: registers})
	}
	return append(of, piece.ImportAt(p.Repo, name, pkg), registers)
}

// utilRuntime is the package of Must.
const utilRuntime = "k8s.io/apimachinery/pkg/util/runtime"

// Registers reports whether the types must be registered: client-go's scheme has those of Kubernetes except
// apiextensions.
func Registers(r project.Resource) bool {
	return !r.Core || r.Group == "apiextensions"
}

// taken are names that scaffolded functions use.
var taken = []string{
	"client", "context", "ctrl", "ctx", "err", "metav1", "r", "reconciler", "req", "request", "runtime", "t", "testing",
	// in webhooks and their tests
	"added", "admission", "fmt", "newObj", "obj", "ok", "oldObj", "apierrors", "before", "d", "data", "field", "filepath", "log", "mistake", "mistakes", "now", "old",
	"os", "reflect", "schema", "slices", "stored", "strings", "v", "validator", "yaml",
}

// Variable is the name of a variable for an object: the kind with its first word in lower case. It avoids keywords and
// names that scaffolded code uses.
func Variable(r project.Resource) string {
	runes := []rune(r.Kind)
	upper := 1
	for upper < len(runes) && unicode.IsUpper(runes[upper]) && (upper+1 == len(runes) || !unicode.IsLower(runes[upper+1])) {
		upper++
	}
	name := strings.ToLower(string(runes[:upper])) + string(runes[upper:])
	if token.IsKeyword(name) || types.Universe.Lookup(name) != nil || slices.Contains(taken, name) || name == r.ImportAlias() {
		return name + "Object"
	}
	return name
}

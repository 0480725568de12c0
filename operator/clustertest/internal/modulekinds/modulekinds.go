// Package modulekinds finds the definitions of kinds of other modules in these modules, in the version that the go.mod
// of the package under test requires.
//
// Modules may be hostile: no program of theirs is started, no link in them is followed, and sizes are limited.
//
// The command searches in the same way, and the two modules share no code: testdata/search holds both searches
// together.
package modulekinds

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/process"
)

// Kinds are kinds by the import path of their Go types.
type Kinds map[string][]schema.GroupVersionKind

// served are the modules that the API server itself serves the kinds of, or that have none.
var served = []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator", "k8s.io/client-go", "k8s.io/metrics"}

// Of returns the kinds of a scheme that may be of other modules; with groups only those of these.
func Of(types *runtime.Scheme, groups ...string) Kinds {
	found := Kinds{}
	for gvk, t := range types.AllKnownTypes() {
		pkg := t.PkgPath()
		_, isObject := reflect.New(t).Interface().(metav1.Object)
		inServed := slices.ContainsFunc(served, func(m string) bool { return pkg == m || strings.HasPrefix(pkg, m+"/") })
		if !isObject || inServed || gvk.Version == runtime.APIVersionInternal || len(groups) > 0 && !slices.Contains(groups, gvk.Group) {
			continue
		}
		found[pkg] = append(found[pkg], gvk)
	}
	return found
}

// located is where the go command finds a package.
type located struct {
	ImportPath string
	Module     *struct {
		Path, Dir string
		Main      bool
	}
	Error *struct{ Err string }
}

// Find returns the definitions of kinds in the modules of their types, as the go command finds these from dir; empty
// is the working folder. Kinds of dir's own module, and those of known, are left out. The error names those that have
// none.
func Find(ctx context.Context, dir string, kinds Kinds, known []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	packages, err := locate(ctx, dir, slices.Sorted(maps.Keys(kinds)))
	if err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	var missing []string
	for _, p := range packages {
		if p.Module != nil && p.Module.Main {
			continue
		}
		wanted := slices.DeleteFunc(slices.Clone(kinds[p.ImportPath]), func(k schema.GroupVersionKind) bool { return isDefined(k, known) || isDefined(k, found) })
		best := make([]match, len(wanted))
		if p.Module != nil && p.Module.Dir != "" {
			search(p.Module.Dir, wanted, best)
		}
		for i, k := range wanted {
			switch {
			case best[i].object == nil:
				missing = append(missing, k.GroupKind().String())
			case !isDefined(k, found):
				found = append(found, best[i].object)
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, &fault.Error{What: "the modules of some kinds have no CRD for them", Where: strings.Join(slices.Compact(missing), ", "),
			Err: errMissing, Hint: "name the groups to install, as Dependencies(\"cert-manager.io\"); slipway can generate missing CRDs from Go types",
			Next: "slipway test --dependencies ./..."}
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return found, nil
}

var errMissing = errors.New("no file of the module has the CRD in this version, or vendor/ has only the module's Go files")

// locate asks the go command where packages are.
func locate(ctx context.Context, dir string, paths []string) ([]located, error) {
	var said bytes.Buffer
	if err := refuseLinks(dir); err != nil {
		return nil, err
	}
	cmd, err := process.Command(ctx, "go", append([]string{"list", "-e", "-find", "-json=ImportPath,Module,Error", "--"}, paths...)...)
	if err != nil {
		return nil, &fault.Error{What: "the go command cannot be started", Err: err, Hint: "install Go: https://go.dev/dl"}
	}
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &said, os.Environ()
	out, err := cmd.Output()
	if err != nil {
		return nil, &fault.Error{What: "the go command cannot find the modules of the scheme's types", Err: err, Hint: strings.TrimSpace(said.String()), Next: "go list ./..."}
	}
	var all []located
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p located
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

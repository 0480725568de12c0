package delivery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/dependency"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/userdirs"
	"github.com/slipway-dev/slipway/project"
)

// Dependencies finds the CRDs of other modules whose kinds the project in root uses, and notes the origin of each. It
// leaves out the CRDs in own.
func Dependencies(ctx context.Context, s *operation.Session, root string, own []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	p := dependency.Project{Code: s.Codebase(root), Root: root, Environ: s.Environ}
	if file, err := p.Code.Project(); err == nil && file != nil { // an unreadable PROJECT has no external kinds
		p.External = slices.DeleteFunc(slices.Clone(file.Resources), func(r project.Resource) bool { return !r.External })
	}
	found, err := dependency.Find(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, m := range found.Missing {
		s.Handler.Handle(report.Warning{Text: "no definition of " + m.Kind + ": " + m.Why})
	}
	var objects []*unstructured.Unstructured
	for _, d := range found.Definitions {
		same := func(o *unstructured.Unstructured) bool { return o.GetName() == d.Object.GetName() }
		if slices.ContainsFunc(own, same) {
			continue
		}
		objects = append(objects, d.Object)
		s.Handler.Handle(report.Note{Text: "crd/" + d.Object.GetName() + " is from " + d.Origin})
	}
	if len(objects)+len(found.Missing) == 0 {
		s.Handler.Handle(report.Note{Text: "the project's Go files use no kind of another module that needs a CRD"})
	}
	return objects, nil
}

// dependenciesSet returns the inventory of other modules' CRDs. It is separate from the project's, so that an install
// without --dependencies removes none of them.
func dependenciesSet(s *operation.Session, root string) (*ship.Set, error) {
	set, err := definitionsSet(s, root)
	if err == nil {
		set.Part = "dependencies"
	}
	return set, err
}

// absentDefinitions returns the CRDs that no other tool has installed in the cluster. It reports the others as kept: an
// installed cert-manager's, for example.
func absentDefinitions(ctx context.Context, s *operation.Session, cluster *ship.Cluster, definitions []*unstructured.Unstructured, set *ship.Set) ([]*unstructured.Unstructured, error) {
	theirs, err := cluster.Others(ctx, definitions, set)
	if err != nil {
		return nil, err
	}
	for _, name := range theirs {
		s.Handler.Handle(report.Object{Name: "crd/" + name, Object: &report.ObjectRef{Kind: "CustomResourceDefinition", Name: name}, Action: report.Kept, Why: "another tool installed it"})
	}
	return slices.DeleteFunc(slices.Clone(definitions), func(o *unstructured.Unstructured) bool { return slices.Contains(theirs, o.GetName()) }), nil
}

// dependenciesFor returns the CRDs of other modules to apply to a cluster, with o changed for their inventory.
func dependenciesFor(ctx context.Context, s *operation.Session, cluster *ship.Cluster, root string, definitions []*unstructured.Unstructured, o ship.ApplyOptions) ([]*unstructured.Unstructured, ship.ApplyOptions, error) {
	set, err := dependenciesSet(s, root)
	if err != nil {
		return nil, o, err
	}
	o.Set = set
	definitions, err = absentDefinitions(ctx, s, cluster, definitions, set)
	return definitions, o, err
}

// WriteDefinitions stores CRDs in the user's cache, in a file that control planes read at their start, and returns its
// path. The name is a hash of the content, so that go test caches results correctly.
func WriteDefinitions(s *operation.Session, definitions []*unstructured.Unstructured) (string, error) {
	var all bytes.Buffer
	for _, d := range definitions {
		text, err := json.Marshal(d.Object)
		if err != nil {
			return "", err
		}
		all.WriteString("---\n")
		all.Write(text)
		all.WriteString("\n")
	}
	cache, err := userdirs.Cache(s.Getenv)
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "definitions", fmt.Sprintf("%x.yaml", sha256.Sum256(all.Bytes())))
	if kept, err := safefs.ReadFile(path); err == nil && bytes.Equal(kept, all.Bytes()) {
		useDefinitions(path, time.Now())
		return path, nil
	}
	err = os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = safefs.WriteCache(path, all.Bytes(), 0o644)
	}
	if err != nil {
		return "", &report.Error{What: "cannot store the definitions of other modules for the test suites", Where: path, Err: err, Hint: "set " + userdirs.CacheVariable + " to a folder that you may write to"}
	}
	pruneDefinitions(filepath.Dir(path), time.Now())
	return path, nil
}

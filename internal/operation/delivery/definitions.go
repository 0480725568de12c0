package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
)

// buildDefinitions builds the CRDs of the project in root. Generated maps absolute paths to contents that replace those
// on disk. A project without kinds gets a note instead of an error.
func buildDefinitions(ctx context.Context, s *operation.Session, root string, generated map[string][]byte) ([]*unstructured.Unstructured, error) {
	code := s.Codebase(root)
	made, err := code.Generation()
	if err != nil {
		return nil, err
	}
	var definitions []*unstructured.Unstructured
	for _, folder := range made.CRDSets() {
		some, err := buildFrom(ctx, s, root, filepath.Join(root, filepath.FromSlash(folder)), generated)
		if err != nil {
			return nil, err
		}
		definitions = append(definitions, some...)
	}
	warnStale(s, code, definitions)
	if len(definitions) == 0 {
		if err := noDefinitions(s, root, code, made); err != nil {
			return nil, err
		}
	}
	useDeployedConversion(ctx, root, code, generated, definitions)
	return definitions, nil
}

// buildFrom builds the CRDs in a folder that they are generated into. It uses the kustomization there, or the one
// beside a folder named bases as in kubebuilder's layout. Without either it takes all manifests.
func buildFrom(ctx context.Context, s *operation.Session, root, folder string, generated map[string][]byte) ([]*unstructured.Unstructured, error) {
	dir, all := folder, generated
	switch above := filepath.Dir(folder); {
	case filepath.Base(folder) == "bases" && kustomization.In(above):
		dir = above
	case kustomization.In(folder):
	default:
		names := manifests(folder, generated)
		if len(names) == 0 {
			return nil, nil
		}
		var err error
		if all, err = withKustomization(folder, names, generated); err != nil {
			return nil, err
		}
	}
	definitions, err := s.Build(ctx, kustomization.Kustomization{Folder: dir, Files: s.Files(root), Changed: all})
	if known, ok := errors.AsType[*report.Error](err); ok && known.Next == "" && (errors.Is(err, fs.ErrNotExist) || generation.IsGenerated(ctx, s, root, withoutLine(known.Where))) {
		known.Next = generation.Command(s, root)
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(known.Where, folder) {
			known.Hint = "the CRDs that the kustomization lists are not generated yet"
		}
	}
	return definitions, err
}

// withoutLine removes the line number from "file:line".
func withoutLine(place string) string {
	if at := strings.LastIndex(place, ":"); at > len(filepath.VolumeName(place)) {
		return place[:at]
	}
	return place
}

// noDefinitions reports that the project has no CRDs. That is an error if PROJECT lists kinds of its own.
func noDefinitions(s *operation.Session, root string, code *codebase.Codebase, made codebase.Generation) error {
	where := made.CRDFolder()
	if where == "" {
		where = "this project: controller-gen writes none to files"
	}
	for _, kind := range operation.Kinds(s) {
		if kind.API != nil {
			return &report.Error{Class: report.BadProject, What: "the CRDs of the project's own kinds are missing", Where: made.CRDFolder(),
				Hint: "PROJECT has the kind " + kind.Kind + "; nothing was installed" + elsewhere(code, made), Next: generation.Command(s, root)}
		}
	}
	s.Handler.Handle(report.Note{Text: "no CRDs in " + where + "; slipway create api adds the first one"})
	return nil
}

// elsewhere returns a hint that names a folder with CRDs that nothing generates, or "".
func elsewhere(code *codebase.Codebase, made codebase.Generation) string {
	other := code.OtherCRDFolder()
	if other == "" {
		return ""
	}
	return "; " + other + " has CRDs, but they are generated into " + made.CRDFolder() + ": call controller-gen in the Makefile with output:crd:artifacts:config=" + other
}

// warnStale warns of copies of these CRDs in folders that the project's generators do not write.
func warnStale(s *operation.Session, code *codebase.Codebase, objects []*unstructured.Unstructured) {
	stale, err := code.StaleCRDs()
	if err != nil {
		return // generating reports it
	}
	for _, copy := range stale {
		if slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "CustomResourceDefinition" && o.GetName() == copy.Name
		}) {
			s.Handler.Handle(report.Warning{Text: copy.File + " is a copy that nothing generates: " + copy.Call + " writes " + copy.Made})
		}
	}
}

// withKustomization returns texts with a kustomization in dir that lists the files names.
func withKustomization(dir string, names []string, texts map[string][]byte) (map[string][]byte, error) {
	kustomization, err := json.Marshal(map[string][]string{"resources": names})
	if err != nil {
		return nil, err
	}
	all := maps.Clone(texts)
	if all == nil {
		all = map[string][]byte{}
	}
	all[filepath.Join(dir, "kustomization.yaml")] = kustomization
	return all, nil
}

// manifests returns the names of the manifests in a folder, including those in texts.
func manifests(dir string, texts map[string][]byte) (names []string) {
	isManifest := func(name string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) }
	entries, _ := os.ReadDir(dir) // a missing folder has none
	for _, e := range entries {
		if !e.IsDir() && isManifest(e.Name()) {
			names = append(names, e.Name())
		}
	}
	for file := range texts {
		if filepath.Dir(file) == dir && isManifest(file) {
			names = append(names, filepath.Base(file))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

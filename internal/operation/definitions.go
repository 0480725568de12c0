package operation

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

	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// crdFolder holds the kustomization of a project's definitions, as kubebuilder lays projects out.
const crdFolder = "config/crd"

// buildDefinitions builds the definitions of the project in root, with generated texts in place of the disk's. Having
// none is reported and no mistake.
func (s *Session) buildDefinitions(ctx context.Context, root string, generated map[string][]byte) ([]*unstructured.Unstructured, error) {
	dir, err := s.definitionsFolder(root)
	if err != nil {
		return nil, err
	}
	all := generated
	if !kustomization.In(dir) {
		if all, err = withKustomization(dir, generated); err != nil {
			return nil, err
		}
	}
	definitions, err := kustomization.Kustomization{Folder: dir, Generated: all}.Build(ctx)
	if known, ok := errors.AsType[*report.Error](err); ok && known.Next == "" {
		known.Next = s.generating(root)
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(known.Where, filepath.Join(dir, "bases")) {
			known.Hint = "the CRDs that the kustomization lists are not generated yet"
		}
	}
	if err == nil && len(definitions) == 0 {
		s.Handler.Handle(report.Note{Text: crdFolder + " has no definitions; slipway create api adds the first one"})
	}
	asDeployed(ctx, root, generated, definitions)
	return definitions, err
}

// errNoDefinitions is why there is nothing to install.
var errNoDefinitions = errors.New("neither " + crdFolder + ", a folder config/*/crd nor one that the Makefile names in output:crd has any")

// definitionsFolder is where a project has its definitions: the kustomization in config/crd, or else one in a folder
// crd further down, such as config/components/crd, or else files without a kustomization, or else where the Makefile
// has them generated.
func (s *Session) definitionsFolder(root string) (string, error) {
	usual := filepath.Join(root, filepath.FromSlash(crdFolder))
	if kustomization.In(usual) {
		return usual, nil
	}
	elsewhere, err := filepath.Glob(filepath.Join(escaped(root), "config", "*", "crd"))
	if err != nil {
		return "", err
	}
	found := slices.DeleteFunc(slices.Clone(elsewhere), func(dir string) bool { return !kustomization.In(dir) })
	if len(found) == 0 {
		found = withManifests(append([]string{usual}, elsewhere...))
	}
	if len(found) == 0 {
		if found, err = s.generatedFolders(root); err != nil {
			return "", err
		}
	}
	switch len(found) {
	case 0:
		return "", &report.Error{
			What: "the project has no custom resource definitions", Where: usual, Hint: "create the project's first API", Err: errNoDefinitions,
			Next: "slipway create api --group batch --version v1 --kind CronJob --resource --controller",
		}
	case 1:
		return found[0], nil
	}
	return "", &report.Error{What: "several folders have CRDs", Where: strings.Join(found, " and "), Hint: "a kustomization in " + crdFolder + " must select the ones to install",
		Next: "slipway kubectl apply --server-side -k " + shellword.Quote(found[0])}
}

// withManifests are the folders bases in some folders, as far as they have manifests.
func withManifests(folders []string) []string {
	var found []string
	for _, dir := range folders {
		if bases := filepath.Join(dir, "bases"); len(manifestsIn(bases)) > 0 {
			found = append(found, bases)
		}
	}
	return found
}

// generatedFolders are the folders that the project's CRDs are generated into, as far as they have a kustomization or
// manifests. A kustomization beside a folder bases, as kubebuilder has it, stands for that.
func (s *Session) generatedFolders(root string) ([]string, error) {
	plan, _, err := s.plan(root)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, dir := range plan.CRDFolders() {
		switch above := filepath.Dir(dir); {
		case filepath.Base(dir) == "bases" && kustomization.In(above):
			found = append(found, above)
		case kustomization.In(dir) || len(manifestsIn(dir)) > 0:
			found = append(found, dir)
		}
	}
	return found, nil
}

// escaped is a path as a pattern that matches it alone.
func escaped(path string) string {
	if os.PathSeparator == '\\' { // where patterns have no escapes
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// withKustomization are texts together with that of a kustomization, in a folder without one, which names the folder's
// manifests.
func withKustomization(dir string, texts map[string][]byte) (map[string][]byte, error) {
	names := manifestsIn(dir)
	for file := range texts {
		if filepath.Dir(file) == dir && isManifest(file) {
			names = append(names, filepath.Base(file))
		}
	}
	slices.Sort(names)
	kustomization, err := json.Marshal(map[string][]string{"resources": slices.Compact(names)})
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

// manifestsIn are the names of the manifests in a folder; none if there is no such folder.
func manifestsIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && isManifest(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

func isManifest(name string) bool {
	extension := filepath.Ext(name)
	return extension == ".yaml" || extension == ".yml"
}

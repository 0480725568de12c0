package delivery

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// configRoot returns the root folder for operations on a kustomization. Without Go it is the working folder, and
// folder, the value of -k, must not be empty.
func configRoot(s *operation.Session, folder string, command operation.CommandLine) (string, error) {
	switch {
	case !operation.WithoutGo(s):
		return s.ReadRoot()
	case folder != "":
		return s.Dir, nil
	}
	all, err := s.Codebase(s.Dir).Config()
	if err != nil {
		return "", err
	}
	choices := DeployableFolders(all)
	if len(choices) == 0 {
		return "", operation.NoProject(s)
	}
	return "", &report.Error{
		Class: report.BadProject,
		What:  "no project in this folder", Where: s.Dir,
		Hint: "without Go code, -k names the kustomization; this folder has " + strings.Join(choices, ", "),
		Next: command(choices[0]),
	}
}

// checkBuilt checks CRDs that no generator wrote in this run as an API server would, and refuses those that it would
// refuse.
func checkBuilt(ctx context.Context, s *operation.Session, root, where string, objects []*unstructured.Unstructured) error {
	var files []crdcheck.File
	made := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		if !isDefinition(object) {
			continue
		}
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return err
		}
		name := object.GetName()
		made[name] = object
		files = append(files, crdcheck.File{Name: name, Content: string(text)})
	}
	if len(files) == 0 || crdcheck.Off(s.Getenv) {
		return nil
	}
	checker := crdcheck.New(s.Getenv, s.Handler)
	findings, err := checker.Check(ctx, files)
	if errors.Is(err, crdcheck.ErrUnavailable) {
		s.Handler.Handle(report.Note{Text: operation.Count(len(files), "CRD") + " not checked as an API server does: " + operation.FirstLine(err) + "; to see why: " + checker.Command()})
		return nil
	}
	if err != nil {
		return err
	}
	refused := 0
	for _, f := range crdcheck.Distinct(findings) {
		s.Handler.Handle(report.Finding{Rule: f.Rule(), Position: report.Position{File: origin(ctx, s, root, where, made[f.File])}, Message: f.String(), Suggestion: f.Advice(), Fatal: f.Refused})
		if f.Refused {
			refused++
		}
	}
	if refused == 0 {
		return nil
	}
	return &report.Error{Class: report.BadProject, What: "API servers refuse these CRDs: " + operation.Count(refused, "mistake") + ", reported above", Where: where, Hint: "nothing was applied; correct the manifests"}
}

// handWrittenCRDs returns the CRDs without the generator's annotation.
func handWrittenCRDs(objects []*unstructured.Unstructured) (written []*unstructured.Unstructured) {
	for _, object := range objects {
		if _, generated := object.GetAnnotations()[arguments.VersionAnnotation]; isDefinition(object) && !generated {
			written = append(written, object)
		}
	}
	return written
}

func isDefinition(object *unstructured.Unstructured) bool {
	return object.GetKind() == "CustomResourceDefinition"
}

// folderDefinitions returns the CRDs of the kustomization in a folder, with the inventory that deploying it uses.
func folderDefinitions(ctx context.Context, s *operation.Session, folder string, command operation.CommandLine) (root string, definitions []*unstructured.Unstructured, set *ship.Set, err error) {
	if root, err = configRoot(s, folder, command); err != nil {
		return "", nil, nil, err
	}
	if err := RequireKustomization(s, root, folder, command); err != nil {
		return "", nil, nil, err
	}
	dir := ResolveFolder(root, folder)
	objects, err := s.Build(ctx, kustomization.Kustomization{Folder: dir, Files: s.Files(root)})
	if err != nil {
		return "", nil, nil, err
	}
	if set, err = deploymentSet(s, root, dir, objects); err != nil {
		return "", nil, nil, err
	}
	set.DefinitionsOnly = true
	definitions = slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !isDefinition(o) })
	if len(definitions) == 0 {
		return "", nil, nil, &report.Error{Class: report.BadProject, What: "the kustomization has no CRDs", Where: dir, Hint: "install applies CRDs alone; deploy -k applies all objects", Next: "slipway deploy -k " + folder}
	}
	return root, definitions, set, nil
}

// installFolder installs the CRDs of a kustomization without generating.
func installFolder(ctx context.Context, s *operation.Session, i Installation) ([]*unstructured.Unstructured, error) {
	again := operation.NewCommandLine("slipway install", i.To.flags()...)
	building, end := Online(ctx, s, i.Only())
	defer end()
	root, definitions, set, err := folderDefinitions(building, s, i.Folder, again)
	if err != nil {
		return nil, err
	}
	if err := checkBuilt(ctx, s, root, i.Folder, definitions); err != nil {
		return nil, err
	}
	cluster, err := connect(ctx, s, i.To, i.Only())
	if err != nil {
		return nil, err
	}
	o := ship.ApplyOptions{Set: set, Force: i.Force, Timeout: i.To.Timeout, Consent: pruning(s, i.Yes, i.Preview)}
	return applyDefinitions(ctx, s, cluster, definitions, o, i.Preview)
}

// uninstallFolder deletes the CRDs of a kustomization, and with them their objects.
func uninstallFolder(ctx context.Context, s *operation.Session, folder string, r Removal) ([]report.Object, error) {
	again := operation.NewCommandLine("slipway uninstall", append(r.From.flags(), operation.FlagIf(r.DryRun, "--dry-run"))...)
	building, end := Online(ctx, s, r.DryRun)
	defer end()
	root, definitions, set, err := folderDefinitions(building, s, folder, again)
	if err != nil {
		return nil, err
	}
	set.Samples = s.Codebase(root).SampleObjects(ctx)
	return remove(ctx, s, definitions, set, r, again(folder))
}

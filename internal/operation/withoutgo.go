package operation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// withoutGo reports whether the session is in no project and no Go module: an operator of another language has
// manifests and programs alone.
func (s *Session) withoutGo() bool {
	root, err := s.projectRootOrNone()
	if root != "" || err != nil || len(s.projectsBelow()) > 0 {
		return false
	}
	module, err := findModule(s.Dir)
	return module == "" && err == nil
}

// configRoot is the folder of the project for operations on a kustomization that a flag may name. Without Go it is the
// working folder, and the flag has to.
func (s *Session) configRoot(folder string, command again) (string, error) {
	switch {
	case !s.withoutGo():
		return s.readRoot()
	case folder != "":
		return s.Dir, nil
	}
	all, err := s.codebase(s.Dir).Config()
	if err != nil {
		return "", err
	}
	choices := applicable(all)
	if len(choices) == 0 {
		return "", s.noProject()
	}
	return "", &report.Error{
		What: "no project in this folder", Where: s.Dir,
		Hint: "without Go code, -k names the kustomization; this folder has " + strings.Join(choices, ", "),
		Next: command(choices[0]),
	}
}

// runProgram runs the program that the arguments name.
func (s *Session) runProgram(ctx context.Context, r Run) error {
	if len(r.Args) == 0 {
		all, err := s.codebase(s.Dir).Config()
		if err == nil && len(applicable(all)) == 0 {
			err = s.noProject()
		}
		return cmp.Or[error](err, &report.Error{
			What: "no project in this folder", Where: s.Dir, Hint: "without Go code, name the operator's program", Next: "slipway run -- ./PROGRAM", Code: mistaken,
		})
	}
	o := s.devOptions(s.Dir, Generation{})
	o.Account = r.Account
	if r.Kubeconfig != "" {
		o.Env = append(o.Env, "KUBECONFIG="+r.Kubeconfig)
	}
	return dev.RunProgram(ctx, o, r.Args[0], r.Args[1:])
}

// checkBuilt reports what API servers say of definitions that were not generated just now, as the generator does of its
// own, and refuses those that none takes.
func (s *Session) checkBuilt(ctx context.Context, root, where string, objects []*unstructured.Unstructured) error {
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
		s.Handler.Handle(report.Note{Text: count(len(files), "CRD") + " not checked as an API server does: " + firstLine(err) + "; to see why: " + checker.Command()})
		return nil
	}
	if err != nil {
		return err
	}
	refused := 0
	for _, f := range crdcheck.Distinct(findings) {
		s.Handler.Handle(report.Finding{Position: report.Position{File: s.origin(ctx, root, where, made[f.File])}, Message: f.String(), Suggestion: f.Advice(), Fatal: f.Refused})
		if f.Refused {
			refused++
		}
	}
	if refused == 0 {
		return nil
	}
	return &report.Error{What: "API servers refuse these CRDs: " + count(refused, "mistake") + ", reported above", Where: where, Hint: "nothing was applied; correct the manifests"}
}

// byHand are the definitions that no generator wrote.
func byHand(objects []*unstructured.Unstructured) (written []*unstructured.Unstructured) {
	for _, object := range objects {
		if _, generated := object.GetAnnotations()[generate.VersionAnnotation]; isDefinition(object) && !generated {
			written = append(written, object)
		}
	}
	return written
}

func isDefinition(object *unstructured.Unstructured) bool {
	return object.GetKind() == "CustomResourceDefinition"
}

// folderDefinitions are the CRDs of the kustomization in a folder, with the inventory that deploying it has.
func (s *Session) folderDefinitions(ctx context.Context, folder string, command again) (root string, definitions []*unstructured.Unstructured, set *ship.Set, err error) {
	if root, err = s.configRoot(folder, command); err != nil {
		return "", nil, nil, err
	}
	if err := s.requireKustomization(root, folder, command); err != nil {
		return "", nil, nil, err
	}
	dir := within(root, folder)
	objects, err := s.build(ctx, kustomization.Kustomization{Folder: dir, Files: s.files(root)})
	if err != nil {
		return "", nil, nil, err
	}
	if set, err = s.deploymentSet(root, dir, objects); err != nil {
		return "", nil, nil, err
	}
	set.DefinitionsOnly = true
	definitions = slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !isDefinition(o) })
	if len(definitions) == 0 {
		return "", nil, nil, &report.Error{What: "the kustomization has no CRDs", Where: dir, Hint: "install applies CRDs alone; deploy -k applies all objects", Next: "slipway deploy -k " + folder}
	}
	return root, definitions, set, nil
}

// installFolder installs the CRDs of a kustomization as they are.
func (s *Session) installFolder(ctx context.Context, i Installation) error {
	again := againWith("slipway install", i.To.flags()...)
	building, end := s.online(ctx, i.only())
	defer end()
	root, definitions, set, err := s.folderDefinitions(building, i.Folder, again)
	if err != nil {
		return err
	}
	if err := s.checkBuilt(ctx, root, i.Folder, definitions); err != nil {
		return err
	}
	cluster, err := s.connect(ctx, i.To, i.only())
	if err != nil {
		return err
	}
	o := ship.ApplyOptions{Set: set, Force: i.Force, Timeout: i.To.Timeout, Consent: s.pruning(i.Yes, i.Preview)}
	if i.only() {
		return s.previewObjects(ctx, cluster, definitions, o, i.Preview)
	}
	return cluster.Apply(ctx, definitions, o)
}

// uninstallFolder deletes the CRDs of a kustomization, and with them their objects.
func (s *Session) uninstallFolder(ctx context.Context, folder string, r Removal) error {
	again := againWith("slipway uninstall", append(r.From.flags(), setFlag{r.DryRun, "--dry-run"})...)
	building, end := s.online(ctx, r.DryRun)
	defer end()
	root, definitions, set, err := s.folderDefinitions(building, folder, again)
	if err != nil {
		return err
	}
	set.Samples = s.codebase(root).SampleObjects(ctx)
	return s.remove(ctx, definitions, set, r, again(folder))
}

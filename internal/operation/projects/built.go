package projects

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/consistency"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/kustomizefs"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// refuseUnbuilt refuses a plan that would break a kustomization of the project which builds now. Lines of a project may
// depend on each other in ways that no command knows. Kustomizations with remote resources are not checked: planning
// fetches nothing.
func refuseUnbuilt(ctx context.Context, s *operation.Session, root string, planned *scaffold.Plan) error {
	j, err := newJudge(root, planned)
	if err != nil {
		return err
	}
	if file, broken := j.Broken(); broken {
		return &report.Error{
			Class: report.BadProject,
			What:  "after this change, the list of a kustomization would not be read any more", Where: file,
			Hint: "nothing was changed; write one item on each line, all of them with the same indentation, and run the command again",
		}
	}
	affected := j.Affected()
	if len(affected) == 0 {
		return nil
	}
	s.Handler.Handle(report.Step{Name: "checking that kustomizations still build"})
	folder, broken := j.unbuilt(ctx, affected)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if broken == nil {
		noteUnknown(s, j)
		return refuseInconsistent(ctx, s, planned, j, affected)
	}
	return &report.Error{
		Class: report.BadProject,
		What:  "after this change, " + folder + " would not build any more", Where: j.File(folder), Err: broken,
		Hint: "nothing was changed; lines of this file, or of those that it lists, depend on those to change: change them by hand, all at once",
		Next: "slipway kustomize build " + shellword.Quote(folder),
	}
}

// A planChecker finds what a plan would break.
type planChecker struct {
	*codebase.ConfigChange
	root  string
	after kustomization.Kustomization // a template; Folder is empty

	unknown map[string]string                       // by folder that could not be checked, the address it needs
	objects map[string][]*unstructured.Unstructured // by folder, what it builds after the plan
}

func newJudge(root string, planned *scaffold.Plan) (planChecker, error) {
	kustomizations, err := planned.ConfigChange()
	if err != nil {
		return planChecker{}, err
	}
	return planChecker{
		ConfigChange: kustomizations, root: root, after: afterPlan(root, planned.Code().View(), planned.Changed()),
		unknown: map[string]string{}, objects: map[string][]*unstructured.Unstructured{},
	}, nil
}

// noteUnknown notes which folders could not be checked.
func noteUnknown(s *operation.Session, j planChecker) {
	for _, folder := range slices.Sorted(maps.Keys(j.unknown)) {
		s.Handler.Handle(report.Note{Text: "not checked whether " + folder + " still builds: it needs " + j.unknown[folder] + ", and this command fetches nothing"})
	}
}

// mostBuilt bounds the kustomizations that are built for one plan.
const mostBuilt = 50

// unbuilt returns a folder that builds now but not after the plan, and the error. A folder that builds proves that its
// parts do.
func (j planChecker) unbuilt(ctx context.Context, affected []string) (folder string, broken error) {
	affected = affected[:min(len(affected), mostBuilt)]
	built := map[string]bool{}
	for _, candidate := range affected {
		complete := j.Complete(candidate)
		if built[candidate] || !complete && !j.Elsewhere(candidate) {
			continue
		}
		parts, err := j.Parts(candidate), j.build(ctx, candidate)
		if remote, ok := errors.AsType[*kustomizefs.RemoteError](err); ok {
			j.unknown[candidate] = remote.Address
		}
		switch {
		case !complete:
			continue
		case err != nil:
			if folder, broken = j.broken(ctx, affected, parts); broken != nil {
				return folder, broken
			}
			continue
		}
		for _, part := range parts {
			built[part] = true
		}
	}
	return "", nil
}

// broken returns the smallest part of a folder that the plan breaks: its error is the most specific.
func (j planChecker) broken(ctx context.Context, affected, parts []string) (folder string, broken error) {
	for _, part := range slices.Backward(affected) {
		if !slices.Contains(parts, part) {
			continue
		}
		err := j.build(ctx, part)
		if err == nil {
			continue
		}
		if _, before := (kustomization.Kustomization{Folder: delivery.ResolveFolder(j.root, part), Files: j.after.Files}).Build(ctx); before == nil {
			return part, err
		}
	}
	return "", nil
}

// build builds a folder as the plan leaves it.
func (j planChecker) build(ctx context.Context, folder string) error {
	j.after.Folder = delivery.ResolveFolder(j.root, folder)
	objects, err := j.after.Build(ctx)
	if err == nil {
		j.objects[folder] = objects
	}
	return err
}

// refuseInconsistent refuses a plan after which deployed objects would no longer fit together.
func refuseInconsistent(ctx context.Context, s *operation.Session, planned *scaffold.Plan, j planChecker, affected []string) error {
	mistake, err := j.mistake(ctx, planned, affected)
	if err != nil || mistake == nil {
		return err
	}
	refusal := &report.Error{
		Class: report.BadProject,
		What:  "after this change, what " + mistake.folder + " deploys would not work: " + mistake.Text, Where: mistake.Object,
		Hint: "nothing was changed; other lines of the project depend on those to change: change them by hand, all at once. The command prints what is deployed now",
		Next: "slipway kustomize build " + shellword.Quote(mistake.folder),
	}
	if mistake.Certificate && !mistake.certified && certificatesWork(ctx, s, j.root) {
		refusal.Hint = "nothing was changed; the webhooks and their certificate depend on each other: enable both"
		refusal.Next = "slipway edit --enable webhook,certmanager"
	}
	return refusal
}

// An addedMistake is an inconsistency that a plan adds to a deployed folder.
type addedMistake struct {
	consistency.Mistake
	folder    string
	certified bool // the folder deploys Certificates already
}

// mistake returns the first inconsistency that a plan adds, or nil.
func (j planChecker) mistake(ctx context.Context, planned *scaffold.Plan, affected []string) (*addedMistake, error) {
	deployed, err := planned.Code().Deployed()
	if err != nil {
		return nil, err
	}
	for _, folder := range deployed.Folders {
		if !slices.Contains(affected, folder) || !j.Complete(folder) || j.objects[folder] == nil && j.build(ctx, folder) != nil {
			continue
		}
		before, err := (kustomization.Kustomization{Folder: delivery.ResolveFolder(j.root, folder), Files: j.after.Files}).Build(ctx)
		if err != nil {
			continue
		}
		for _, mistake := range consistency.Added(before, j.objects[folder]) {
			certified := slices.ContainsFunc(before, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Certificate" })
			return &addedMistake{mistake, folder, certified}, nil
		}
	}
	return nil, ctx.Err()
}

// certificatesWork reports whether webhooks and cert-manager could be enabled together.
func certificatesWork(ctx context.Context, s *operation.Session, root string) bool {
	planned, err := scaffold.EditProject(s.Folder(root), scaffold.MadeBy(operation.OwnRelease()), scaffold.Enable(features.WebhookServer, features.CertManager))
	if err != nil || planned.Empty() {
		return false
	}
	j, err := newJudge(root, planned)
	if err != nil {
		return false
	}
	affected := j.Affected()
	if _, broken := j.Broken(); broken {
		return false
	}
	if _, broken := j.unbuilt(ctx, affected); broken != nil {
		return false
	}
	mistake, err := j.mistake(ctx, planned, affected)
	return err == nil && mistake == nil
}

// afterPlan returns a kustomization, without its folder, that reads the project as a plan changes it.
func afterPlan(root string, view fileview.View, changed map[string][]byte) kustomization.Kustomization {
	after := kustomization.Kustomization{Files: kustomization.Files{Root: root, View: view}, Changed: map[string][]byte{}}
	for name, content := range changed {
		after.Changed[filepath.Join(root, filepath.FromSlash(name))] = content
	}
	return after
}

package delivery

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// deploymentSet returns the inventory of a deployed folder of the project in root. It is the same for every checkout.
func deploymentSet(s *operation.Session, root, folder string, objects []*unstructured.Unstructured) (*ship.Set, error) {
	name, err := ProjectName(root, s.Codebase(root))
	if err != nil {
		return nil, err
	}
	set := &ship.Set{Project: name, Part: inventoryPart(root, folder), Namespace: targetNamespace(s, root, folder), Version: operation.ToolVersion()}
	if set.Namespace == "" {
		set.Namespace = ship.SetNamespace(objects)
	}
	return set, nil
}

// ProjectName returns the name that inventories use: from PROJECT, else the last element of the module's path. Both are
// the same in every checkout. Without Go code it is the folder's name.
func ProjectName(root string, code *codebase.Codebase) (string, error) {
	p, err := code.Project()
	switch {
	case err != nil:
		return "", err
	case p != nil:
		return cmp.Or(p.Name, "project"), nil // versions 1 and 2 of PROJECT have no name
	}
	return cmp.Or(asName(code.ProjectName()), asName(filepath.Base(root)), "project"), nil
}

// asName converts a text to an object name, or "" if it has no valid characters.
func asName(text string) string {
	return strings.Trim(notInNames().ReplaceAllString(strings.ToLower(text), "-"), "-")
}

// definitionsSet returns the inventory of the project's CRDs. It is the deployment's inventory restricted to CRDs, so
// that deploy and install, undeploy and uninstall agree.
func definitionsSet(s *operation.Session, root string) (*ship.Set, error) {
	code, folder := s.Codebase(root), codebase.DeployedFolder
	if deployed, err := code.Deployed(); err != nil {
		return nil, err
	} else if one, err := deployed.Folder(); err == nil {
		folder = one
	}
	set, err := deploymentSet(s, root, ResolveFolder(root, folder), nil)
	if err != nil {
		return nil, err
	}
	if set.Namespace == "" {
		if all, err := code.Deployments(); err == nil && len(all) > 0 { // deploying reports errors
			set.Namespace = all[0].Metadata.Namespace
		}
	}
	if set.Namespace == "" { // the default namespace of kubebuilder's config/default
		set.Namespace = set.Project + "-system"
	}
	set.DefinitionsOnly = true
	return set, nil
}

// notInNames matches runs of characters that object names cannot contain.
var notInNames = lazy.Regexp(`[^a-z0-9]+`)

// inventoryPart distinguishes the inventories of a project's folders. It is "" for config/default.
func inventoryPart(root, folder string) string {
	if folder == ResolveFolder(root, codebase.DeployedFolder) {
		return ""
	}
	name, err := filepath.Rel(root, folder)
	if err != nil || strings.HasPrefix(name, "..") {
		name = filepath.Base(folder)
	}
	return asName(name)
}

// targetNamespace returns the namespace field of the kustomization in a folder, or "".
func targetNamespace(s *operation.Session, root, folder string) string {
	text, err := kustomization.Files{Root: root, View: s.Folder(root)}.Read(folder)
	if err != nil {
		return ""
	}
	var says struct {
		Namespace string `json:"namespace"`
	}
	if err := yaml.Unmarshal(text, &says); err != nil {
		return ""
	}
	return says.Namespace
}

// consent returns a function that asks before deleting objects that may hold data or are shared. Flag is the one by
// which scripts agree. Without a terminal, otherwise answers.
func consent(s *operation.Session, yes bool, flag string, otherwise func(question string) (bool, error)) ship.Consent {
	return func(ctx context.Context, question string) (bool, error) {
		switch {
		case yes:
			return true, nil
		case s.Ask != nil:
			return s.Ask(ctx, question, flag)
		}
		return otherwise(question)
	}
}

// pruning returns the consent to delete objects that left the configuration and may hold data. A preview does not ask:
// it shows what happens without a terminal.
func pruning(s *operation.Session, yes bool, p operation.Preview) ship.Consent {
	if p.Only() {
		return func(context.Context, string) (bool, error) { return yes, nil }
	}
	return consent(s, yes, "--prune=data", keepData)
}

// keepData refuses consent, so that the objects stay. Deploy reports them.
func keepData(string) (bool, error) { return false, nil }

// refuseDeletion returns an answer that ends the command before anything is deleted.
func refuseDeletion(command string) func(string) (bool, error) {
	return func(question string) (bool, error) {
		about, _, _ := strings.Cut(question, "\nDelete")
		return false, &report.Error{
			What: "nothing was deleted: these objects need your consent, and there is no terminal for a prompt", Where: command,
			Hint: about, Next: command + " --yes", Code: report.UsageCode,
		}
	}
}

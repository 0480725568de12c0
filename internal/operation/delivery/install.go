package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// InstallTimeout is the default time for the API server to serve CRDs.
const InstallTimeout = ship.DefaultTimeout

// A Target is a cluster, and how long an operation may take there.
type Target struct {
	Kubeconfig string        // file; empty means KUBECONFIG, else ~/.kube/config
	Context    string        // of the kubeconfig; empty means its current context
	Timeout    time.Duration // 0 means InstallTimeout
	Cluster    *ship.Cluster // in place of what the other fields name
}

// connect returns the cluster of a target, after restoring what a killed run left changed there.
func connect(ctx context.Context, s *operation.Session, to Target, preview bool) (*ship.Cluster, error) {
	cluster, err := reach(s, to)
	if err != nil {
		return nil, err
	}
	return cluster, restoreWebhooks(ctx, s, cluster, preview)
}

// reach returns the cluster of a target.
func reach(s *operation.Session, to Target) (*ship.Cluster, error) {
	if to.Timeout < 0 {
		return nil, negativeTimeout()
	}
	if to.Cluster != nil {
		return to.Cluster.Reporting(s.Handler), nil
	}
	k := ship.Kubeconfig{Path: to.Kubeconfig, List: s.Getenv("KUBECONFIG"), Context: to.Context}
	return ship.Connect(k, s.Handler)
}

// reachable returns an error if a preview cannot connect to its cluster. It is called before anything is generated.
func reachable(s *operation.Session, to Target, p operation.Preview) error {
	if !p.Only() {
		return nil
	}
	_, err := reach(s, to)
	return err
}

func negativeTimeout() error {
	return &report.Error{What: "a timeout cannot be negative", Where: "--timeout", Hint: "expected a duration such as 30s or 2m"}
}

// An Installation is how to bring a project's CRDs into a cluster.
type Installation struct {
	To    Target
	Force bool // take over fields that other managers own
	Yes   bool // delete CRDs that left the project, with their objects, without a prompt

	Folder     string // kustomization with the CRDs; empty means where the project generates them
	NoGenerate bool   // install the files as they are
	// Dependencies also installs the CRDs of other modules whose kinds the project uses.
	Dependencies bool
	// KeepConversion leaves it to others how objects are converted between versions: to an operator in the cluster,
	// else to the webhooks of a session.
	KeepConversion bool
	// Before is called with the definitions before they are applied, and may refuse them; nil refuses none.
	Before func(ctx context.Context, cluster *ship.Cluster, definitions []*unstructured.Unstructured) error
	operation.Preview
}

// Install generates, builds and applies the project's CRDs, and waits until the API server serves them. It returns all
// applied CRDs, including those of other modules, or with a preview those that it would apply.
func Install(ctx context.Context, s *operation.Session, i Installation) ([]*unstructured.Unstructured, error) {
	if i.Folder != "" {
		return installFolder(ctx, s, i)
	}
	root, err := configRoot(s, "", operation.NewCommandLine("slipway install", i.To.flags()...))
	if err != nil {
		return nil, err
	}
	if err := reachable(s, i.To, i.Preview); err != nil {
		return nil, err
	}
	generated, err := generation.EnsureGenerated(ctx, s, root, generation.Generation{NoWebhooks: true}, i.Only(), i.NoGenerate)
	if err != nil {
		return nil, err
	}
	building, end := Online(ctx, s, i.Only())
	defer end()
	definitions, err := buildDefinitions(building, s, root, generated)
	if err != nil {
		return nil, err
	}
	if err := checkBuilt(ctx, s, root, s.Codebase(root).CRDListFolder(), handWrittenCRDs(definitions)); err != nil {
		return nil, err
	}
	warnOfLoss(s, definitions)
	var others []*unstructured.Unstructured
	if i.Dependencies {
		if others, err = Dependencies(ctx, s, root, definitions); err != nil {
			return nil, err
		}
	}
	set, err := definitionsSet(s, root)
	if err != nil {
		return nil, err
	}
	cluster, err := connect(ctx, s, i.To, i.Only())
	if err != nil && len(definitions) == 0 && !i.Dependencies {
		return nil, nil // there is nothing to install, as a note says
	}
	if err != nil {
		return nil, err
	}
	if i.KeepConversion {
		if err := cluster.KeepConversions(ctx, definitions); err != nil {
			return nil, err
		}
	}
	if i.Before != nil {
		if err := i.Before(ctx, cluster, definitions); err != nil {
			return nil, err
		}
	}
	o := ship.ApplyOptions{Set: set, Force: i.Force, Timeout: i.To.Timeout, Consent: pruning(s, i.Yes, i.Preview)}
	if !i.Dependencies {
		return applyDefinitions(ctx, s, cluster, definitions, o, i.Preview)
	}
	brought, with, err := dependenciesFor(ctx, s, cluster, root, others, o)
	if err != nil {
		return nil, err
	}
	if i.Only() {
		err = previewInstallation(ctx, s, cluster, definitions, brought, o, with, i.Preview)
	} else if err = cluster.Apply(ctx, brought, with); err == nil && len(definitions) > 0 {
		err = cluster.Apply(ctx, definitions, o)
	}
	if err != nil {
		return nil, err
	}
	return slices.Concat(brought, definitions), nil
}

// applyDefinitions applies CRDs or shows a preview, and returns them.
func applyDefinitions(ctx context.Context, s *operation.Session, cluster *ship.Cluster, definitions []*unstructured.Unstructured, o ship.ApplyOptions, p operation.Preview) ([]*unstructured.Unstructured, error) {
	apply := cluster.Apply
	if p.Only() {
		apply = func(ctx context.Context, definitions []*unstructured.Unstructured, o ship.ApplyOptions) error {
			return previewObjects(ctx, s, cluster, definitions, o, p)
		}
	}
	if err := apply(ctx, definitions, o); err != nil {
		return nil, err
	}
	return definitions, nil
}

// previewInstallation previews installing the CRDs of other modules, with the options with, and then the project's.
func previewInstallation(ctx context.Context, s *operation.Session, cluster *ship.Cluster, own, others []*unstructured.Unstructured, o, with ship.ApplyOptions, p operation.Preview) error {
	all, err := cluster.Preview(ctx, others, with)
	if err != nil {
		return err
	}
	differences, err := cluster.Preview(ctx, own, o)
	if err != nil {
		return err
	}
	showObjects(s, append(all, differences...), p)
	return nil
}

// Uninstall deletes the project's CRDs, and with them their objects. It returns the deleted CRDs, or with DryRun those
// that it would delete.
func Uninstall(ctx context.Context, s *operation.Session, folder string, r Removal) ([]report.Object, error) {
	if folder != "" {
		return uninstallFolder(ctx, s, folder, r)
	}
	root, err := configRoot(s, "", operation.NewCommandLine("slipway uninstall", append(r.From.flags(), operation.FlagIf(r.DryRun, "--dry-run"))...))
	if err != nil {
		return nil, err
	}
	building, end := Online(ctx, s, r.DryRun)
	defer end()
	definitions, err := buildDefinitions(building, s, root, nil)
	if err != nil {
		return nil, err
	}
	set, err := definitionsSet(s, root)
	if err != nil {
		return nil, err
	}
	set.Samples = s.Codebase(root).SampleObjects(ctx)
	if !r.Dependencies {
		return remove(ctx, s, definitions, set, r, "slipway uninstall")
	}
	var own []report.Object
	if len(definitions) > 0 {
		if own, err = remove(ctx, s, definitions, set, r, "slipway uninstall"); err != nil {
			return nil, err
		}
	}
	others, err := uninstallDependencies(ctx, s, root, definitions, r)
	if err != nil {
		return nil, err
	}
	return slices.Concat(own, others), nil
}

// uninstallDependencies deletes the CRDs of other modules that install brought.
func uninstallDependencies(ctx context.Context, s *operation.Session, root string, own []*unstructured.Unstructured, r Removal) ([]report.Object, error) {
	others, err := Dependencies(ctx, s, root, own)
	if err != nil {
		return nil, err
	}
	set, err := dependenciesSet(s, root)
	if err != nil {
		return nil, err
	}
	return remove(ctx, s, others, set, r, "slipway uninstall --dependencies")
}

// warnOfLoss warns of definitions without conversion whose versions differ: objects lose fields between these.
func warnOfLoss(s *operation.Session, definitions []*unstructured.Unstructured) {
	for _, definition := range definitions {
		if from, to, lost := ship.LostBetweenVersions(definition); len(lost) > 0 {
			s.Handler.Handle(report.Warning{Text: fmt.Sprintf("%s: objects of %s that are read or written as %s lose %s: this definition has no conversion. slipway deploy installs it with the operator that converts",
				definition.GetName(), from, to, strings.Join(lost[:min(len(lost), mostLost)], ", "))})
		}
	}
}

// mostLost bounds how many fields are named.
const mostLost = 3

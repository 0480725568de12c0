package delivery

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// InstallTimeout is how long definitions may usually take to be served.
const InstallTimeout = ship.DefaultTimeout

// A Target is which cluster is meant, and how long it may take.
type Target struct {
	Kubeconfig string        // a file; empty is KUBECONFIG, else ~/.kube/config
	Context    string        // of the kubeconfig; empty is its current one
	Timeout    time.Duration // 0 is InstallTimeout
}

// connect returns the cluster that to means, after what a killed run owes to it was seen to.
func connect(ctx context.Context, s *operation.Session, to Target, preview bool) (*ship.Cluster, error) {
	cluster, err := Reach(s, to)
	if err != nil {
		return nil, err
	}
	return cluster, takeBack(ctx, s, cluster, preview)
}

// Reach returns the cluster that to means.
func Reach(s *operation.Session, to Target) (*ship.Cluster, error) {
	if to.Timeout < 0 {
		return nil, negativeTimeout()
	}
	k := ship.Kubeconfig{Path: to.Kubeconfig, List: s.Getenv("KUBECONFIG"), Context: to.Context}
	return ship.Connect(k, s.Handler)
}

// reachable is why a preview cannot be made for lack of a cluster, which is said before anything is generated for it.
func reachable(s *operation.Session, to Target, p operation.Preview) error {
	if !p.Only() {
		return nil
	}
	_, err := Reach(s, to)
	return err
}

func negativeTimeout() error {
	return &report.Error{What: "a timeout cannot be negative", Where: "--timeout", Hint: "expected a duration such as 30s or 2m", Code: operation.Mistaken}
}

// An Installation is how to bring a project's definitions into a cluster.
type Installation struct {
	To    Target
	Force bool // take over fields that others own
	Yes   bool // delete definitions that left the project, with their objects, without a question

	Folder     string // the kustomization to take them from; empty is where the project generates them
	NoGenerate bool   // install the files as they are
	// Dependencies brings the definitions of kinds of other modules along that the project uses.
	Dependencies bool
	operation.Preview
}

// Install generates, builds and applies the project's definitions, and waits until the API server serves them.
func Install(ctx context.Context, s *operation.Session, i Installation) error {
	if i.Folder != "" {
		return installFolder(ctx, s, i)
	}
	root, err := configRoot(s, "", operation.AgainWith("slipway install", i.To.flags()...))
	if err != nil {
		return err
	}
	if err := reachable(s, i.To, i.Preview); err != nil {
		return err
	}
	generated, err := generation.Sources(ctx, s, root, generation.Generation{NoWebhooks: true}, i.Only(), i.NoGenerate)
	if err != nil {
		return err
	}
	building, end := Online(ctx, s, i.Only())
	defer end()
	definitions, err := buildDefinitions(building, s, root, generated)
	if err != nil {
		return err
	}
	if err := checkBuilt(ctx, s, root, codebase.CRDListFolder, byHand(definitions)); err != nil {
		return err
	}
	var others []*unstructured.Unstructured
	if i.Dependencies {
		if others, err = Dependencies(ctx, s, root, definitions); err != nil {
			return err
		}
	}
	set, err := definitionsSet(s, root)
	if err != nil {
		return err
	}
	cluster, err := connect(ctx, s, i.To, i.Only())
	if err != nil && len(definitions) == 0 && !i.Dependencies {
		return nil // there is nothing to install, which is said
	}
	if err != nil {
		return err
	}
	o := ship.ApplyOptions{Set: set, Force: i.Force, Timeout: i.To.Timeout, Consent: pruning(s, i.Yes, i.Preview)}
	if i.Only() {
		return previewInstallation(ctx, s, cluster, root, definitions, others, o, i)
	}
	if i.Dependencies {
		if err := installDependencies(ctx, s, cluster, root, others, o); err != nil {
			return err
		}
	}
	if len(definitions) == 0 && i.Dependencies {
		return nil
	}
	return cluster.Apply(ctx, definitions, o)
}

// previewInstallation answers with what installing would do.
func previewInstallation(ctx context.Context, s *operation.Session, cluster *ship.Cluster, root string, own, others []*unstructured.Unstructured, o ship.ApplyOptions, i Installation) error {
	if !i.Dependencies {
		return previewObjects(ctx, s, cluster, own, o, i.Preview)
	}
	all, err := previewDependencies(ctx, s, cluster, root, others, o)
	if err != nil {
		return err
	}
	differences, err := cluster.Preview(ctx, own, o)
	if err != nil {
		return err
	}
	showObjects(s, append(all, differences...), i.Preview)
	return nil
}

// Uninstall deletes the project's definitions, and with them their objects.
func Uninstall(ctx context.Context, s *operation.Session, folder string, r Removal) error {
	if folder != "" {
		return uninstallFolder(ctx, s, folder, r)
	}
	root, err := configRoot(s, "", operation.AgainWith("slipway uninstall", append(r.From.flags(), operation.IfSet(r.DryRun, "--dry-run"))...))
	if err != nil {
		return err
	}
	building, end := Online(ctx, s, r.DryRun)
	defer end()
	definitions, err := buildDefinitions(building, s, root, nil)
	if err != nil {
		return err
	}
	set, err := definitionsSet(s, root)
	if err != nil {
		return err
	}
	set.Samples = s.Codebase(root).SampleObjects(ctx)
	if len(definitions) > 0 || !r.Dependencies {
		if err := remove(ctx, s, definitions, set, r, "slipway uninstall"); err != nil {
			return err
		}
	}
	if !r.Dependencies {
		return nil
	}
	return uninstallDependencies(ctx, s, root, definitions, r)
}

// uninstallDependencies deletes the definitions of other modules that install brought.
func uninstallDependencies(ctx context.Context, s *operation.Session, root string, own []*unstructured.Unstructured, r Removal) error {
	others, err := Dependencies(ctx, s, root, own)
	if err != nil {
		return err
	}
	set, err := dependenciesSet(s, root)
	if err != nil {
		return err
	}
	return remove(ctx, s, others, set, r, "slipway uninstall --dependencies")
}

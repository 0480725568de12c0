package operation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/codebase"
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
func (s *Session) connect(ctx context.Context, to Target, preview bool) (*ship.Cluster, error) {
	cluster, err := s.reach(to)
	if err != nil {
		return nil, err
	}
	return cluster, s.takeBack(ctx, cluster, preview)
}

// reach returns the cluster that to means.
func (s *Session) reach(to Target) (*ship.Cluster, error) {
	if to.Timeout < 0 {
		return nil, negativeTimeout()
	}
	k := ship.Kubeconfig{Path: to.Kubeconfig, List: s.Getenv("KUBECONFIG"), Context: to.Context}
	return ship.Connect(k, s.Handler)
}

// reachable is why a preview cannot be made for lack of a cluster, which is said before anything is generated for it.
func (s *Session) reachable(to Target, p Preview) error {
	if !p.only() {
		return nil
	}
	_, err := s.reach(to)
	return err
}

func negativeTimeout() error {
	return &report.Error{What: "a timeout cannot be negative", Where: "--timeout", Hint: "expected a duration such as 30s or 2m", Code: mistaken}
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
	Preview
}

// Install generates, builds and applies the project's definitions, and waits until the API server serves them.
func (s *Session) Install(ctx context.Context, i Installation) error {
	if i.Folder != "" {
		return s.installFolder(ctx, i)
	}
	root, err := s.configRoot("", againWith("slipway install", i.To.flags()...))
	if err != nil {
		return err
	}
	if err := s.reachable(i.To, i.Preview); err != nil {
		return err
	}
	generated, err := s.sources(ctx, root, Generation{NoWebhooks: true}, i.only(), i.NoGenerate)
	if err != nil {
		return err
	}
	building, end := s.online(ctx, i.only())
	defer end()
	definitions, err := s.buildDefinitions(building, root, generated)
	if err != nil {
		return err
	}
	if err := s.checkBuilt(ctx, root, codebase.CRDListFolder, byHand(definitions)); err != nil {
		return err
	}
	var others []*unstructured.Unstructured
	if i.Dependencies {
		if others, err = s.dependencies(ctx, root, definitions); err != nil {
			return err
		}
	}
	set, err := s.definitionsSet(root)
	if err != nil {
		return err
	}
	cluster, err := s.connect(ctx, i.To, i.only())
	if err != nil && len(definitions) == 0 && !i.Dependencies {
		return nil // there is nothing to install, which is said
	}
	if err != nil {
		return err
	}
	o := ship.ApplyOptions{Set: set, Force: i.Force, Timeout: i.To.Timeout, Consent: s.pruning(i.Yes, i.Preview)}
	if i.only() {
		return s.previewInstallation(ctx, cluster, root, definitions, others, o, i)
	}
	if i.Dependencies {
		if err := s.installDependencies(ctx, cluster, root, others, o); err != nil {
			return err
		}
	}
	if len(definitions) == 0 && i.Dependencies {
		return nil
	}
	return cluster.Apply(ctx, definitions, o)
}

// previewInstallation answers with what installing would do.
func (s *Session) previewInstallation(ctx context.Context, cluster *ship.Cluster, root string, own, others []*unstructured.Unstructured, o ship.ApplyOptions, i Installation) error {
	if !i.Dependencies {
		return s.previewObjects(ctx, cluster, own, o, i.Preview)
	}
	all, err := s.previewDependencies(ctx, cluster, root, others, o)
	if err != nil {
		return err
	}
	differences, err := cluster.Preview(ctx, own, o)
	if err != nil {
		return err
	}
	s.showObjects(append(all, differences...), i.Preview)
	return nil
}

// Uninstall deletes the project's definitions, and with them their objects.
func (s *Session) Uninstall(ctx context.Context, folder string, r Removal) error {
	if folder != "" {
		return s.uninstallFolder(ctx, folder, r)
	}
	root, err := s.configRoot("", againWith("slipway uninstall", append(r.From.flags(), setFlag{r.DryRun, "--dry-run"})...))
	if err != nil {
		return err
	}
	building, end := s.online(ctx, r.DryRun)
	defer end()
	definitions, err := s.buildDefinitions(building, root, nil)
	if err != nil {
		return err
	}
	set, err := s.definitionsSet(root)
	if err != nil {
		return err
	}
	set.Samples = s.codebase(root).SampleObjects(ctx)
	if len(definitions) > 0 || !r.Dependencies {
		if err := s.remove(ctx, definitions, set, r, "slipway uninstall"); err != nil {
			return err
		}
	}
	if !r.Dependencies {
		return nil
	}
	return s.uninstallDependencies(ctx, root, definitions, r)
}

// uninstallDependencies deletes the definitions of other modules that install brought.
func (s *Session) uninstallDependencies(ctx context.Context, root string, own []*unstructured.Unstructured, r Removal) error {
	others, err := s.dependencies(ctx, root, own)
	if err != nil {
		return err
	}
	set, err := s.dependenciesSet(root)
	if err != nil {
		return err
	}
	return s.remove(ctx, others, set, r, "slipway uninstall --dependencies")
}

package proving

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// locate finds the project, unless the scenario needs none, and reads which findings are accepted there.
func (b *bench) locate() (err error) {
	if len(b.command) == 0 && operation.WithoutGo(b.Session) {
		return &report.Error{Class: report.BadProject, What: "there is no operator to prove", Where: b.Dir, Hint: "without Go code, a scenario names the operator's command", Next: "slipway prove -f scenario.yaml"}
	}
	if len(b.command) == 0 || len(b.scenario.Steps) == 0 {
		if b.root, err = b.ReadRoot(); err != nil {
			return err
		}
	}
	b.acceptances, err = b.accepted()
	return err
}

// managerFile is the compiled manager in the scratch folder.
const managerFile = "manager"

// build compiles the project's manager, unless another operator is named.
func (b *bench) build(ctx context.Context) error {
	if len(b.command) > 0 {
		return nil
	}
	code := b.Codebase(b.root)
	if err := code.Choose(b.proof.Manager); err != nil {
		return err
	}
	manager, err := code.Manager(func(pkg string) *report.Error {
		return &report.Error{Hint: "--manager names the manager's", Next: "slipway prove --manager " + pkg}
	})
	if err != nil {
		return err
	}
	program := filepath.Join(b.scratch, managerFile)
	b.main = manager.Package
	b.Handler.Handle(report.Step{Name: "building the manager"})
	o := dev.Options{Dir: b.root, Env: slices.Clone(b.Environ), Stderr: b.Stderr, Handler: b.Handler, Debug: b.proof.Debug, Code: func() *codebase.Codebase { return code }}
	b.manager, err = dev.BuildBeside(ctx, o, manager.Package, program)
	return err
}

// bring installs the CRDs and the rights of the project's operator.
func (b *bench) bring(ctx context.Context, cluster *ship.Cluster) error {
	apart := operation.Apart(b.Session)
	apart.Handler = report.Discard
	definitions, err := delivery.Install(ctx, apart, delivery.Installation{To: delivery.Target{Cluster: cluster}, NoGenerate: true, Dependencies: true, KeepConversion: true})
	if err != nil {
		return err
	}
	access, err := delivery.Grant(ctx, apart, b.root, cluster)
	switch {
	case err == nil:
		b.identity = prove.Identity(clusterctl.ServiceAccount(access.Namespace, access.Account))
	case len(b.command) == 0:
		return &report.Error{What: "the rights of the manager are not known", Where: b.root, Err: err, Hint: "a scenario can name the command of an operator, and its serviceAccount", Next: "slipway prove -f scenario.yaml"}
	default:
		b.Handler.Handle(report.Note{Text: "the operator has all rights, since it is not known with which it is deployed: " + report.Advised(err)})
	}
	if len(b.scenario.Steps) > 0 {
		return nil
	}
	samples := ship.InInstallOrder(b.Codebase(b.root).SampleObjects(ctx))
	if len(samples) == 0 {
		return &report.Error{Class: report.BadProject, What: "the project has no samples to prove its operator with", Where: b.root, Hint: "write some in config/samples, or a scenario", Next: "slipway prove -f scenario.yaml"}
	}
	if confines := b.confines(); confines != "" {
		if err := settleSamples(ctx, cluster, samples, confines); err != nil {
			return err
		}
	}
	b.scenario.Steps, err = stepsFor(ctx, cluster, samples, definitions)
	return err
}

// confines is the only namespace in which the project's manager works; empty: it works in all.
func (b *bench) confines() string {
	if b.manager == nil {
		return ""
	}
	return b.manager.Confines(b.identity.Namespace)
}

// settleSamples puts samples that name no namespace into one, as users of an operator do that works in no other.
func settleSamples(ctx context.Context, cluster *ship.Cluster, samples []*unstructured.Unstructured, namespace string) error {
	served, err := cluster.ServedResources(ctx)
	if err != nil {
		return err
	}
	for _, o := range samples {
		kind := o.GroupVersionKind()
		if o.GetNamespace() == "" && slices.ContainsFunc(served, func(r ship.ServedResource) bool { return r.Group == kind.Group && r.Kind == kind.Kind && r.Namespaced }) {
			o.SetNamespace(namespace)
		}
	}
	return nil
}

// stepsFor are what users do with samples: each is applied, those of the project's kinds are changed, and all are
// deleted.
func stepsFor(ctx context.Context, cluster *ship.Cluster, samples, definitions []*unstructured.Unstructured) (steps []prove.Step, err error) {
	for _, o := range samples {
		steps = append(steps, prove.Step{Apply: o.Object})
	}
	changed := 0
	for _, o := range samples {
		patch, err := changeFor(ctx, cluster, o, definitions)
		if errors.Is(err, errNoChange) {
			continue
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, prove.Step{Patch: patch})
		changed++
	}
	for _, o := range slices.Backward(samples) {
		steps = append(steps, prove.Step{Delete: identity(o)})
	}
	return steps, nil
}

// identity is what names an object.
func identity(o *unstructured.Unstructured) map[string]any {
	m := map[string]any{"name": o.GetName()}
	if o.GetNamespace() != "" {
		m["namespace"] = o.GetNamespace()
	}
	return map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": m}
}

// Package delivery deploys an operator to a cluster and deletes it again: deploy, install, undeploy, uninstall and
// their previews. It also has add-ons of embedded clusters, and kubectl.
package delivery

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/addon"
	"github.com/slipway-dev/slipway/internal/clusterctl/loaded"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/ship"
)

// scaffoldedFile is recorded in .slipway/base of every project that slipway made.
const scaffoldedFile = "Makefile"

// DeployTimeout is the default time for an operator to become ready, including the first pull of its image.
const DeployTimeout = 2 * time.Minute

// A Deployment is what to deploy to a cluster, and how.
type Deployment struct {
	To     Target
	Folder string // kustomization, in the project or absolute; empty means the one that the Makefile deploys
	Image  string // the operator's image, or NAME=REFERENCE for another; empty keeps the configuration's
	Force  bool   // take over fields that other managers own
	Yes    bool   // delete objects that left the configuration without a prompt, even if they may hold data
	Wait   bool   // until all objects are ready

	NoGenerate bool // deploy the files as they are
	operation.Preview

	print   bool   // print the objects, and change no cluster
	applied string // the folder that Folder stands for
}

// ResolveFolder returns the path of a folder that a flag names, relative to the project unless it is absolute.
func ResolveFolder(root, folder string) string {
	if folder = filepath.FromSlash(folder); filepath.IsAbs(folder) {
		return folder
	}
	return filepath.Join(root, folder)
}

// buildDeployment returns the objects to deploy from the project in root. It brings generated files up to date first,
// only in memory if look is set.
func buildDeployment(ctx context.Context, s *operation.Session, root string, d Deployment, look bool) ([]*unstructured.Unstructured, error) {
	if err := RequireKustomization(s, root, d.applied, d.again); err != nil {
		return nil, err
	}
	asTheyAre, err := skipsGenerating(s, root, d)
	if err != nil {
		return nil, err
	}
	generated, err := generation.EnsureGenerated(ctx, s, root, generation.Generation{}, look, asTheyAre)
	if err != nil {
		return nil, err
	}
	warnCommentedSections(s, root, d.applied)
	built := kustomization.Kustomization{Folder: ResolveFolder(root, d.applied), Files: s.Files(root), Image: d.Image, Changed: generated, Tell: s.Note}
	objects, err := s.Build(ctx, built)
	switch {
	case err != nil:
		return nil, generation.Ungenerated(ctx, s, root, err)
	case len(objects) == 0:
		return nil, noObjects(built.Folder)
	case d.Image != "" && !runs(objects, d.Image):
		return nil, d.withoutContainer(ctx, built, objects)
	}
	written := objects
	if !operation.WithoutGo(s) {
		written = handWrittenCRDs(objects) // generating checks the others
	}
	if err := checkBuilt(ctx, s, root, d.applied, written); err != nil {
		return nil, err
	}
	if err := refuseKo(s, d, objects); err != nil {
		return nil, err
	}
	if err := requireImages(ctx, s, root, d, objects); err != nil {
		return nil, err
	}
	noteSetImage(s, root, d, objects)
	warnStale(s, s.Codebase(root), objects)
	return objects, nil
}

// skipsGenerating reports whether to deploy the files without generating. That is so with --no-generate and without Go
// code. It is so, too, for a folder other than config/default in a project that slipway did not make: its content need
// not follow from the code.
func skipsGenerating(s *operation.Session, root string, d Deployment) (bool, error) {
	if d.NoGenerate || operation.WithoutGo(s) {
		return true, nil
	}
	if d.Folder == "" || d.Folder == codebase.DeployedFolder {
		return false, nil
	}
	base, err := scaffold.ReadBase(s.Folder(root))
	if err != nil {
		return false, err
	}
	if _, ours := base.File(scaffoldedFile); ours {
		return false, nil
	}
	s.Handler.Handle(report.Note{Text: "No files are generated for " + d.Folder + ", since slipway did not make this project; run " + generation.Command(s, root) + " to generate them."})
	return true, nil
}

// noObjects returns the error for a kustomization without objects.
func noObjects(folder string) error {
	return &report.Error{
		Class: report.BadProject,
		What:  "the kustomization has no objects", Where: folder,
		Hint: "expected the operator's objects: add its folders or files to resources",
		Next: "slipway kustomize build " + folder,
	}
}

// Deploy generates, builds and applies the project's configuration, and waits for it if asked. It returns the applied
// objects, or with a preview those that it would apply.
func Deploy(ctx context.Context, s *operation.Session, d Deployment) ([]*unstructured.Unstructured, error) {
	defer s.Collector.Patiently()()
	root, shipment, err := d.prepare(ctx, s, d.Only())
	if err != nil {
		return nil, err
	}
	objects, set := shipment.Objects, shipment.set
	cluster, err := connect(ctx, s, d.To, d.Only())
	if err != nil {
		return nil, err
	}
	if err := requireLoaded(ctx, s, cluster, objects); err != nil {
		return nil, err
	}
	outdated, err := outdated(ctx, s, cluster, objects)
	if err != nil {
		return nil, err
	}
	o := ship.ApplyOptions{Set: set, Force: d.Force, Timeout: d.To.Timeout, Consent: pruning(s, d.Yes, d.Preview), Restart: outdated, Wait: d.Wait}
	if d.Only() {
		if err := previewObjects(ctx, s, cluster, objects, o, d.Preview, outdated...); err != nil {
			return nil, withAddon(ctx, s, root, cluster, err)
		}
		return objects, nil
	}
	if err := cluster.Apply(ctx, objects, o); err != nil {
		return nil, withAddon(ctx, s, root, cluster, err)
	}
	if d.Wait {
		reportSimulated(ctx, s, cluster, objects)
	}
	return objects, nil
}

// withAddon changes the advice of an error about a missing kind. On an embedded cluster it suggests the add-on with
// that kind, elsewhere what withoutSelf does.
func withAddon(ctx context.Context, s *operation.Session, root string, cluster *ship.Cluster, err error) error {
	e, ok := errors.AsType[*report.Error](err)
	brings := addon.ForGroup(ship.MissingGroup(err))
	if !ok || brings == nil {
		return err
	}
	err = withoutSelf(root, err)
	embedded := clusters.Embedded(ctx, s, cluster)
	if embedded == nil || requireRealNode(brings, embedded) != nil {
		return err
	}
	advised := *e
	advised.Hint = brings.Name + " is not in the cluster; embedded clusters have it as an add-on"
	if other, ok := errors.AsType[*report.Error](err); ok && strings.HasPrefix(other.Next, "slipway edit ") {
		advised.Hint += ", and `" + other.Next + "` does without it"
	}
	advised.Next = "slipway cluster add " + brings.Name
	if embedded.Name != clusters.DefaultCluster {
		advised.Next += " --cluster " + embedded.Name
	}
	return &advised
}

// withoutSelf suggests installing cert-manager if it is missing and the project's manager cannot create its own
// certificates.
func withoutSelf(root string, err error) error {
	e, ok := errors.AsType[*report.Error](err)
	if !ok || ship.MissingGroup(err) != ship.CertManager || scaffold.CanKeepCertificates(root) {
		return err
	}
	advised := *e
	advised.Hint = "cert-manager is not installed in the cluster, and this manager does not start without a certificate: install cert-manager"
	advised.Next = "slipway kubectl apply -f https://github.com/cert-manager/cert-manager/releases/latest/download/cert-manager.yaml"
	return &advised
}

// PrintDeployment reports the objects of a deployment as a YAML stream. It connects to no cluster.
func PrintDeployment(ctx context.Context, s *operation.Session, d Deployment) ([]*unstructured.Unstructured, error) {
	root, err := configRoot(s, d.Folder, d.again)
	if err != nil {
		return nil, err
	}
	d.print = true
	if d.applied, err = DeployedFolder(s, root, d.Folder, d.again); err != nil {
		return nil, err
	}
	objects, err := buildDeployment(ctx, s, root, d, true)
	if err != nil {
		return nil, err
	}
	objects = ship.InInstallOrder(objects)
	var documents []string
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		documents = append(documents, string(text))
	}
	s.Handler.Handle(report.Result{Text: strings.Join(documents, "---\n"), Value: objects})
	return objects, nil
}

// A Removal is how to delete from a cluster what an operation brought there.
type Removal struct {
	From   Target
	Yes    bool // delete shared objects and those that may hold data, without a prompt
	DryRun bool // only list what would be deleted

	Dependencies bool // for Uninstall: also other modules' CRDs that install brought
}

// Undeploy builds the kustomization in a folder, named as in [Deployment].Folder, and deletes its objects. It generates
// nothing: the files as they are describe what was deployed. It returns the deleted objects, or with DryRun those that
// it would delete.
func Undeploy(ctx context.Context, s *operation.Session, folder string, r Removal) ([]report.Object, error) {
	again := operation.NewCommandLine("slipway undeploy", append(r.From.flags(), operation.FlagIf(r.DryRun, "--dry-run"))...)
	root, err := configRoot(s, folder, again)
	if err != nil {
		return nil, err
	}
	command := again(folder)
	if folder, err = DeployedFolder(s, root, folder, again); err != nil {
		return nil, err
	}
	if err := RequireKustomization(s, root, folder, again); err != nil {
		return nil, err
	}
	folder = ResolveFolder(root, folder)
	building, end := Online(ctx, s, r.DryRun)
	defer end()
	objects, err := s.Build(building, kustomization.Kustomization{Folder: folder, Files: s.Files(root)})
	if err != nil {
		return nil, generation.Ungenerated(ctx, s, root, err)
	}
	if len(objects) == 0 {
		return nil, noObjects(folder)
	}
	set, err := deploymentSet(s, root, folder, objects)
	if err != nil {
		return nil, err
	}
	set.Samples = s.Codebase(root).SampleObjects(ctx)
	return remove(ctx, s, objects, set, r, command)
}

// remove deletes the members of a set and its inventory, or with DryRun lists them, and returns them. Command is for
// the error if consent is needed and there is no terminal.
func remove(ctx context.Context, s *operation.Session, objects []*unstructured.Unstructured, set *ship.Set, r Removal, command string) ([]report.Object, error) {
	changes, noting := &tally{handler: s.Handler, verbose: true}, *s
	noting.Handler = changes
	cluster, err := connect(ctx, &noting, r.From, r.DryRun)
	if err != nil {
		return nil, err
	}
	o := ship.DeleteOptions{Set: set, Consent: consent(s, r.Yes, "--yes", refuseDeletion(command)), Timeout: r.From.Timeout}
	if r.DryRun {
		return previewDeletion(ctx, s, cluster, objects, o)
	}
	if err := cluster.Delete(ctx, objects, o); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(changes.list(), func(o report.Object) bool { return o.Action != report.Deleted }), nil
}

// outdated returns the workloads on an embedded cluster whose pods have to be recreated. They run an older image than
// the one that the cluster's registry now has under that name, or are simulated although the registry has their images.
// For other clusters it returns none, since what their nodes would pull is unknown.
func outdated(ctx context.Context, s *operation.Session, cluster *ship.Cluster, objects []*unstructured.Unstructured) ([]ship.Outdated, error) {
	embedded := clusters.Embedded(ctx, s, cluster)
	if embedded == nil || embedded.Nodes.Real == 0 {
		return nil, nil
	}
	images := func(ctx context.Context, image string) ([]string, error) {
		digests, err := loaded.Digests(ctx, embedded.Registry, image)
		if err != nil {
			return nil, uncheckedImage(image, embedded.Name, err)
		}
		return digests, nil
	}
	outdated, err := cluster.Outdated(ctx, objects, images)
	if err != nil {
		return nil, err
	}
	awakening, err := cluster.Awakening(ctx, objects, images)
	for _, one := range awakening {
		if !slices.ContainsFunc(outdated, func(o ship.Outdated) bool { return o.Workload == one.Workload }) {
			outdated = append(outdated, one)
		}
	}
	return outdated, err
}

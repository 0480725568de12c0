// Package delivery brings an operator to a cluster and takes it away again: deploy, install, their opposites and
// previews, add-ons, and kubectl.
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

// scaffoldedFile is in the base of projects that slipway made.
const scaffoldedFile = "Makefile"

// DeployTimeout is how long an operator may usually take to run: the first pull of its image is in it.
const DeployTimeout = 2 * time.Minute

// A Deployment is what to bring into a cluster, and how.
type Deployment struct {
	To     Target
	Folder string // the kustomization, in the project or as an absolute path; empty is the one that the Makefile deploys
	Image  string // the operator's, or NAME=REFERENCE for another's; empty leaves the configuration's
	Force  bool   // take over fields that others own
	Yes    bool   // delete what left the configuration even if it may hold data, without a question
	Wait   bool   // until all is ready

	NoGenerate bool // deploy the files as they are
	operation.Preview

	print   bool   // the objects, and change no cluster
	applied string // the folder that is meant
}

// ResolveFolder is the path of the folder of a kustomization that a flag names: in the project, unless it is absolute.
func ResolveFolder(root, folder string) string {
	if folder = filepath.FromSlash(folder); filepath.IsAbs(folder) {
		return folder
	}
	return filepath.Join(root, folder)
}

// buildDeployment returns the objects to deploy from the project in root. What follows from the code is generated
// before, in memory alone for those who only look.
func buildDeployment(ctx context.Context, s *operation.Session, root string, d Deployment, look bool) ([]*unstructured.Unstructured, error) {
	if err := RequireKustomization(s, root, d.applied, d.again); err != nil {
		return nil, err
	}
	asTheyAre, err := asTheyAre(s, root, d)
	if err != nil {
		return nil, err
	}
	generated, err := generation.EnsureGenerated(ctx, s, root, generation.Generation{}, look, asTheyAre)
	if err != nil {
		return nil, err
	}
	warnWaiting(s, root, d.applied)
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
		written = byHand(objects) // generating checks the others
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

// asTheyAre reports whether a deployment takes the project's files as they are: on demand, and where another
// kustomization than the usual one of a project is meant that slipway did not make. What that includes need not follow
// from the code.
func asTheyAre(s *operation.Session, root string, d Deployment) (bool, error) {
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

// noObjects is the error of a kustomization that builds and describes nothing.
func noObjects(folder string) error {
	return &report.Error{
		What: "the kustomization has no objects", Where: folder,
		Hint: "expected the operator's objects: add its folders or files to resources",
		Next: "slipway kustomize build " + folder,
	}
}

// Deploy generates, builds and applies what the project's configuration describes, and waits for it. It returns the
// objects that it applied; with a preview, those that it would apply.
func Deploy(ctx context.Context, s *operation.Session, d Deployment) ([]*unstructured.Unstructured, error) {
	defer s.Collector.Patiently()()
	root, err := configRoot(s, d.Folder, d.again)
	if err != nil {
		return nil, err
	}
	if d.applied, err = DeployedFolder(s, root, d.Folder, d.again); err != nil {
		return nil, err
	}
	if err := reachable(s, d.To, d.Preview); err != nil {
		return nil, err
	}
	building, end := Online(ctx, s, d.Only())
	defer end()
	objects, err := buildDeployment(building, s, root, d, d.Only())
	if err != nil {
		return nil, err
	}
	set, err := deploymentSet(s, root, ResolveFolder(root, d.applied), objects)
	if err != nil {
		return nil, err
	}
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

// withAddon suggests the add-on that brings a missing kind into an embedded cluster, and for others what withoutSelf
// does.
func withAddon(ctx context.Context, s *operation.Session, root string, cluster *ship.Cluster, err error) error {
	e, ok := errors.AsType[*report.Error](err)
	brings := addon.ForGroup(ship.MissingGroup(err))
	if !ok || brings == nil {
		return err
	}
	err = withoutSelf(root, err)
	embedded := clusters.Embedded(ctx, s, cluster)
	if embedded == nil || mayRun(brings, embedded) != nil {
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

// withoutSelf suggests another command where cert-manager is missing and the project's manager cannot keep its
// certificates itself.
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

// PrintDeployment answers with the objects of a deployment, as one YAML stream, and touches no cluster.
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

// A Removal is how to take away from a cluster what an operation brought there.
type Removal struct {
	From   Target
	Yes    bool // delete what others use, and what may hold data, without a question
	DryRun bool // only list what would go

	Dependencies bool // with what install brought of other modules; for Uninstall
}

// Undeploy builds the objects of the kustomization in a folder, which is in the project or an absolute path, or empty
// for the one that the Makefile deploys, and deletes them. Nothing is generated: what is in the cluster came from what
// is there. It returns the objects that were deleted; with DryRun, those that would be.
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

// remove deletes the members of a set and its inventory, or says which, and returns those. The error for what cannot be
// asked names the command.
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

// outdated are the workloads of an embedded cluster whose pods run an older image than the one that the cluster's
// registry has under its name now, or are simulated although it has their images. Of other clusters it is not known
// what their nodes would pull.
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

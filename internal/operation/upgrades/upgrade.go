// Package upgrades rehearses upgrades of the project's operator: from a revision to another one, in a cluster that is
// thrown away.
package upgrades

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/junit"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/rehearsal"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// An Upgrade is what to rehearse.
type Upgrade struct {
	From    string   // a git revision, or a file of manifests; unused with FromCluster
	To      string   // the same; empty means the files as they are
	Objects []string // files with objects of users, besides the samples
	Folder  string   // kustomization to deploy; empty means the one that the Makefile deploys
	Manager string   // folder of the manager's main package, if there are several
	Load    []string // images of this machine that the operator's pods need besides the manager's
	JUnit   string   // file for the report in JUnit's form, or ""

	FromCluster bool               // begin with what is deployed
	Deployed    delivery.Inventory // where, with FromCluster
}

// command is the command line of this upgrade, for advice.
func (u Upgrade) command() string {
	if u.FromCluster {
		return "slipway upgrade --from-cluster"
	}
	return "slipway upgrade --from " + shellword.Quote(u.From)
}

// clusterName is the name of the cluster in its own state folder.
const clusterName = "upgrade"

// scratchPrefix begins the names of the folders of rehearsals.
const scratchPrefix = "slipway-upgrade-"

// Rehearse carries out an upgrade in a cluster of its own, and reports what it finds. It fails if a finding is fatal,
// and returns the report then, too.
func Rehearse(ctx context.Context, s *operation.Session, u Upgrade) (_ *rehearsal.Report, err error) {
	defer s.Collector.Patiently()()
	begin := time.Now()
	root, err := s.ReadRoot()
	if err != nil {
		return nil, err
	}
	forget(ctx, s)
	scratch, err := userdirs.ScratchIn(os.TempDir(), scratchPrefix)
	if err != nil {
		return nil, err
	}
	defer ending.Await(ctx, "the rehearsal's end")()
	w := &workshop{Session: apart(s, scratch.Path), user: s, upgrade: u, root: root, scratch: scratch.Path}
	defer func() { err = errors.Join(err, w.tidy(scratch)) }()
	if err := w.check(s); err != nil {
		return nil, err
	}
	from, to, samples, err := w.prepare(ctx)
	if err != nil {
		return nil, err
	}
	cluster, err := w.startCluster(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if err := w.equip(ctx, cluster, from, to); err != nil {
		return nil, err
	}
	found, err := rehearsal.Rehearsal{Cluster: cluster, From: from.on(cluster), To: to.on(cluster), Samples: samples, Handler: w.Handler}.Run(ctx)
	if err != nil {
		return nil, err
	}
	found.Add(w.definitionChanges(ctx, from, to)...)
	found.Elapsed = time.Since(begin)
	return found, w.conclude(s, found)
}

// prepare makes both revisions ready, and the objects of users. What is misspelt is found before anything is compiled.
func (w *workshop) prepare(ctx context.Context) (from, to *revision, samples []*unstructured.Unstructured, err error) {
	if w.upgrade.FromCluster {
		from, err = w.deployed(ctx)
	} else {
		from, err = w.find(ctx, "from", w.upgrade.From)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if to, err = w.find(ctx, "to", w.upgrade.To); err != nil {
		return nil, nil, nil, err
	}
	objects, err := w.objects(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, r := range []*revision{from, to} {
		if err := w.build(ctx, r); err != nil {
			return nil, nil, nil, err
		}
	}
	samples, err = w.samples(ctx, from, to, objects)
	return from, to, samples, err
}

// check refuses flags that cannot be right.
func (w *workshop) check(s *operation.Session) (err error) {
	if w.upgrade.Folder, err = inside(w.root, "--kustomize", w.upgrade.Folder); err != nil {
		return err
	}
	if w.upgrade.Manager, err = inside(w.root, "--manager", w.upgrade.Manager); err != nil {
		return err
	}
	if err := s.CheckReportFile("--junit", w.upgrade.JUnit); err != nil {
		return err
	}
	here := images.Names(w.Session)
	for _, name := range w.upgrade.Load {
		if ref, err := reference.Parse(name); err != nil || !slices.Contains(here, ref.Name()) {
			return &report.Error{What: "this machine has no such image", Where: "--load " + name, Err: err, Hint: "build or pull it first", Next: "slipway image list", Code: report.UsageCode}
		}
	}
	return nil
}

// tidy removes what the rehearsal has made. If its cluster does not stop, the next rehearsal tries that again.
func (w *workshop) tidy(scratch userdirs.Scratch) error {
	w.removeImages()
	if w.started {
		if _, err := clusterctl.New(w.Getenv, w.Handler).Stop(context.Background(), clusterName); err != nil {
			scratch.Release()
			return err
		}
	}
	return scratch.Remove()
}

// inside is the path of a folder of the project, relative to it: each revision has its own.
func inside(root, flag, folder string) (string, error) {
	if !filepath.IsAbs(folder) {
		return folder, nil
	}
	relative, err := filepath.Rel(root, folder)
	if err != nil || !filepath.IsLocal(relative) {
		return "", &report.Error{What: "the folder is not in the project", Where: flag + " " + folder, Hint: "each revision has to have it", Code: report.UsageCode}
	}
	return filepath.ToSlash(relative), nil
}

// apart is a session whose clusters are in a folder of their own, and which says little of what it does.
func apart(s *operation.Session, folder string) *operation.Session {
	apart := operation.Apart(s)
	own := map[string]string{"SLIPWAY_STATE": filepath.Join(folder, "state"), "KUBECONFIG": filepath.Join(folder, "kubeconfig")}
	apart.Getenv = func(name string) string {
		if value, ok := own[name]; ok {
			return value
		}
		return s.Getenv(name)
	}
	apart.Handler = &quiet{handler: s.Handler}
	return apart
}

// forget stops the clusters of rehearsals that were killed, and removes what they have left.
func forget(ctx context.Context, s *operation.Session) {
	for left := range userdirs.Left(os.TempDir(), scratchPrefix) {
		s.Handler.Handle(report.Note{Text: "removing what a rehearsal has left that was killed: " + left.Path})
		killed := apart(s, left.Path)
		killed.Handler = report.Discard
		for _, role := range []string{"from", "to"} {
			_, _ = images.Remove(ctx, killed, imageName(left.Path, role))
		}
		if _, err := clusterctl.New(killed.Getenv, report.Discard).Stop(ctx, clusterName); err != nil {
			left.Release()
			continue
		}
		_ = left.Remove()
	}
}

// startCluster starts a cluster with a real node, which has the images of revisions.
func (w *workshop) startCluster(ctx context.Context, revisions ...*revision) (*ship.Cluster, error) {
	w.started = true
	status, err := clusterctl.New(w.Getenv, w.Handler).Start(ctx, clusterName, clusterctl.Options{NoContext: true, Spec: clusterctl.Spec{NodeKind: protocol.RealNodes}})
	if err != nil {
		return nil, err
	}
	if err := w.load(ctx, revisions...); err != nil {
		return nil, err
	}
	return ship.Connect(ship.Kubeconfig{Path: status.Kubeconfig}, w.Handler)
}

// equip brings the add-ons into the cluster that the revisions need.
func (w *workshop) equip(ctx context.Context, cluster *ship.Cluster, revisions ...*revision) error {
	var added []string
	for _, r := range revisions {
		for _, name := range delivery.NeededAddons(ctx, cluster, r.shipment.Objects) {
			if slices.Contains(added, name) {
				continue
			}
			if _, err := delivery.Add(ctx, w.Session, delivery.Addition{Addon: name, Cluster: clusterName, Timeout: delivery.DeployTimeout}); err != nil {
				return err
			}
			added = append(added, name)
		}
	}
	return nil
}

// definitionChanges are the changes of definitions that may break objects or clients, by their schemas alone.
func (w *workshop) definitionChanges(ctx context.Context, from, to *revision) (findings []rehearsal.Finding) {
	if crdcheck.Off(w.Getenv) {
		return nil
	}
	changes, err := crdcheck.New(w.Getenv, w.Handler).Compare(ctx, from.definitions(), to.definitions())
	if err != nil {
		w.Handler.Handle(report.Warning{Text: "the definitions were not compared: " + err.Error()})
		return nil
	}
	for _, c := range changes {
		if c.Breaking {
			findings = append(findings, rehearsal.DefinitionFinding(c.Definition, c.Version, c.Field, c.Message))
		}
	}
	return findings
}

// conclude shows the report and decides how the command ends.
func (w *workshop) conclude(s *operation.Session, found *rehearsal.Report) error {
	s.Handler.Handle(report.Result{Text: found.Text(), Value: found})
	if w.upgrade.JUnit != "" {
		if err := junit.Write(s.Absolute(w.upgrade.JUnit), found.JUnit()); err != nil {
			return err
		}
	}
	if found.Passed {
		return nil
	}
	return &report.Error{What: "the upgrade from " + found.From + " to " + found.To + " has " + operation.Count(found.Fatal(), "problem") + " for its users", Hint: hint(found)}
}

// hint is what helps against the problems.
func hint(found *rehearsal.Report) string {
	for _, f := range found.Findings {
		if f.Class == rehearsal.NoService && strings.Contains(f.Text, "failed to call webhook: the server could not find") {
			return "a webhook whose path changes fails while managers of both revisions run: have the new one answer at the old path, too, as create version does, or have users expect the gap"
		}
	}
	return "correct the new revision, or have users prepare for it by an earlier one"
}

// definitions are those of a revision, to be compared.
func (r *revision) definitions() (files []crdcheck.File) {
	for _, o := range r.shipment.Objects {
		if !ship.IsDefinition(o) {
			continue
		}
		if text, err := yaml.Marshal(o.Object); err == nil {
			files = append(files, crdcheck.File{Name: o.GetName() + ".yaml", Content: string(text)})
		}
	}
	return files
}

// on is a revision that is deployed to a cluster.
func (r *revision) on(cluster *ship.Cluster) rehearsal.Revision {
	return rehearsal.Revision{Name: r.name, Objects: r.shipment.Objects, Deploy: func(ctx context.Context) error { return r.shipment.Deploy(ctx, cluster) }}
}

// objects are those in the files that are named.
func (w *workshop) objects(ctx context.Context) (all []*unstructured.Unstructured, err error) {
	for _, file := range w.upgrade.Objects {
		if !operation.IsFile(filepath.Dir(w.Absolute(file)), filepath.Base(file)) {
			return nil, &report.Error{What: "there is no such file", Where: "--objects " + file, Hint: "name a file of manifests", Code: report.UsageCode}
		}
		objects, err := kustomization.ReadManifests(ctx, w.Absolute(file))
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

// samples are the objects of users: named ones, those of the old revision, and of the new revision where the old one
// has none of that name.
func (w *workshop) samples(ctx context.Context, from, to *revision, named []*unstructured.Unstructured) (samples []*unstructured.Unstructured, err error) {
	for _, o := range slices.Concat(named, from.samples(ctx), to.samples(ctx)) {
		same := func(other *unstructured.Unstructured) bool {
			return other.GroupVersionKind().GroupKind() == o.GroupVersionKind().GroupKind() && other.GetName() == o.GetName() && other.GetNamespace() == o.GetNamespace()
		}
		if from.serves(o) && !slices.ContainsFunc(samples, same) {
			samples = append(samples, o)
		}
	}
	if !slices.ContainsFunc(samples, from.defines) {
		return nil, &report.Error{Class: report.BadProject, What: "there are no objects to upgrade", Where: w.root, Hint: "the samples of " + from.name + " have none of its kinds: name a file with objects", Next: w.upgrade.command() + " --objects objects.yaml"}
	}
	return samples, nil
}

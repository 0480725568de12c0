// Package upgrades rehearses upgrades of the project's operator: from a revision to another one, in a cluster that is
// thrown away.
package upgrades

import (
	"context"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/rehearsal"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// An Upgrade is what to rehearse.
type Upgrade struct {
	From    string   // a git revision, or a file of manifests
	To      string   // the same; empty means the files as they are
	Objects []string // files with objects of users, besides the samples
	Folder  string   // kustomization to deploy; empty means the one that the Makefile deploys
	Manager string   // folder of the manager's main package, if there are several
	Load    []string // images of this machine that the operator's pods need besides the manager's
	JUnit   string   // file for the report in JUnit's form, or ""
}

// clusterName is the name of the cluster in its own state folder.
const clusterName = "upgrade"

// scratchPrefix begins the names of the folders of rehearsals.
const scratchPrefix = "slipway-upgrade-"

// Rehearse carries out an upgrade in a cluster of its own, and reports what it finds. It fails if a finding is fatal,
// and returns the report then, too.
func Rehearse(ctx context.Context, s *operation.Session, u Upgrade) (_ *rehearsal.Report, err error) {
	defer s.Collector.Patiently()()
	root, err := s.ReadRoot()
	if err != nil {
		return nil, err
	}
	forget(ctx, s)
	scratch, err := userdirs.ScratchIn(os.TempDir(), scratchPrefix)
	if err != nil {
		return nil, err
	}
	stopped := true
	defer func() {
		if stopped {
			err = errors.Join(err, scratch.Remove())
		} else {
			scratch.Release() // the next rehearsal tries to stop the cluster
		}
	}()
	if u.Folder, err = inside(root, "--kustomize", u.Folder); err != nil {
		return nil, err
	}
	if u.Manager, err = inside(root, "--manager", u.Manager); err != nil {
		return nil, err
	}
	w := &workshop{Session: apart(s, scratch.Path), upgrade: u, root: root, scratch: scratch.Path}
	defer w.removeImages()
	from, err := w.revision(ctx, "from", u.From)
	if err != nil {
		return nil, err
	}
	to, err := w.revision(ctx, "to", u.To)
	if err != nil {
		return nil, err
	}
	samples, err := w.samples(ctx, from, to)
	if err != nil {
		return nil, err
	}
	cluster, stop, err := w.startCluster(ctx, from, to)
	if err != nil {
		return nil, err
	}
	defer func() {
		failed := stop()
		stopped, err = failed == nil, errors.Join(err, failed)
	}()
	if err := w.equip(ctx, cluster, from, to); err != nil {
		return nil, err
	}
	found, err := rehearsal.Rehearsal{Cluster: cluster, From: from.on(cluster), To: to.on(cluster), Samples: samples, Handler: w.Handler}.Run(ctx)
	if err != nil {
		return nil, err
	}
	found.Add(w.definitionChanges(ctx, from, to)...)
	return found, w.conclude(s, found)
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

// forget stops the clusters of rehearsals that were killed, and removes their folders.
func forget(ctx context.Context, s *operation.Session) {
	for left := range userdirs.Left(os.TempDir(), scratchPrefix) {
		for _, role := range []string{"from", "to"} {
			_, _ = images.Remove(ctx, apart(s, left.Path), imageName(left.Path, role))
		}
		_, err := clusterctl.New(apart(s, left.Path).Getenv, report.Discard).Stop(ctx, clusterName)
		if err != nil {
			left.Release()
			continue
		}
		_ = left.Remove()
	}
}

// startCluster starts a cluster with a real node. Stop ends it.
func (w *workshop) startCluster(ctx context.Context, revisions ...*revision) (cluster *ship.Cluster, stop func() error, err error) {
	control := clusterctl.New(w.Getenv, w.Handler)
	status, err := control.Start(ctx, clusterName, clusterctl.Options{NoContext: true, Spec: clusterctl.Spec{NodeKind: protocol.RealNodes}})
	if err != nil {
		return nil, nil, err
	}
	stop = func() error {
		_, err := control.Stop(context.WithoutCancel(ctx), clusterName)
		return err
	}
	if err := w.load(ctx, revisions...); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	if cluster, err = ship.Connect(ship.Kubeconfig{Path: status.Kubeconfig}, w.Handler); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return cluster, stop, nil
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
	if w.upgrade.JUnit != "" {
		text, err := xml.MarshalIndent(found.JUnit(), "", "  ")
		if err == nil {
			err = safefs.Write(s.Absolute(w.upgrade.JUnit), append([]byte(xml.Header), append(text, '\n')...), 0o644)
		}
		if err != nil {
			return &report.Error{What: "the report cannot be written", Where: w.upgrade.JUnit, Err: err}
		}
	}
	s.Handler.Handle(report.Result{Text: found.Text(), Value: found})
	if found.Passed {
		return nil
	}
	return &report.Error{What: "the upgrade from " + found.From + " to " + found.To + " has " + operation.Count(found.Fatal(), "problem") + " for its users",
		Hint: "correct the new revision, or have users prepare for it by an earlier one"}
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

// samples are the objects of users: those of the old revision, of the named files, and of the new revision where the
// old one has none of their kinds.
func (w *workshop) samples(ctx context.Context, from, to *revision) (samples []*unstructured.Unstructured, err error) {
	all := append(from.samples(ctx), to.samples(ctx)...)
	for _, file := range w.upgrade.Objects {
		objects, err := readObjects(ctx, w.Absolute(file))
		if err != nil {
			return nil, err
		}
		all = append(objects, all...)
	}
	for _, o := range all {
		same := func(other *unstructured.Unstructured) bool {
			return other.GroupVersionKind().GroupKind() == o.GroupVersionKind().GroupKind() && other.GetName() == o.GetName() && other.GetNamespace() == o.GetNamespace()
		}
		if from.serves(o) && !slices.ContainsFunc(samples, same) {
			samples = append(samples, o)
		}
	}
	if !slices.ContainsFunc(samples, from.defines) {
		return nil, &report.Error{What: "there are no objects to upgrade", Where: w.root, Hint: "the samples of " + from.name + " have none of its kinds: name a file with objects", Next: "slipway upgrade --from " + w.upgrade.From + " --objects objects.yaml"}
	}
	return samples, nil
}

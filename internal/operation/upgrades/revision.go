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

	"github.com/slipway-dev/slipway/internal/git"
	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// imageName is the name under which the manager of a revision is built, for the rehearsal in a folder. It is one that
// no registry and no other rehearsal has.
func imageName(scratch, role string) string {
	return "upgrade.invalid/" + filepath.Base(scratch) + ":" + role
}

// A workshop is where revisions are made ready.
type workshop struct {
	*operation.Session // of the rehearsal
	user               *operation.Session
	upgrade            Upgrade
	root               string // of the project
	scratch            string // folder for temporary files
	images             []string
	fetched            []string // images from the cluster that has the old revision, in the session of fetching
	started            bool     // the cluster
}

// A revision is a state of the project that is, or will be, ready to be deployed.
type revision struct {
	name, role string
	shipment   delivery.Shipment
	session    *operation.Session // in its files; nil if it is of manifests alone
	root       string
	asItIs     bool // its configuration is not generated
}

// find finds what a flag names: role is from or to.
func (w *workshop) find(ctx context.Context, role, what string) (*revision, error) {
	if what == "" {
		return &revision{name: "the files as they are", role: role, session: w.Session, root: w.root}, nil
	}
	commit, err := git.Commit(ctx, w.root, what)
	if err == nil {
		return w.checkout(ctx, role, what, commit)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	file := w.Absolute(what)
	if operation.IsFile(filepath.Dir(file), filepath.Base(file)) {
		return w.released(ctx, what, file)
	}
	e := &report.Error{What: "it is neither a git revision nor a file of manifests", Where: "--" + role + " " + what, Err: err,
		Hint: "use a branch, a tag or a commit, like main or v1.2.0; or a released install.yaml", Code: report.UsageCode}
	if _, none := git.Commit(ctx, w.root, "HEAD"); none == nil {
		e.Next = "git fetch --tags"
	} else if e.Hint = "the project is in no git repository with a commit: name a released install.yaml, or commit it"; git.IsMissing(err) {
		e.Hint = "git is not on PATH: install it, or name a released install.yaml"
	}
	return nil, e
}

// checkout writes the files of a commit.
func (w *workshop) checkout(ctx context.Context, role, what, commit string) (*revision, error) {
	w.Handler.Handle(report.Step{Name: "reading " + what})
	dir := filepath.Join(w.scratch, role)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := git.Checkout(ctx, w.root, commit, dir)
	if err != nil {
		return nil, &report.Error{What: "the revision cannot be read", Where: "--" + role + " " + what, Err: err}
	}
	session := operation.Apart(w.Session)
	session.Dir = root
	if within, err := session.ReadRoot(); err != nil || within != dir && !strings.HasPrefix(within, dir+string(filepath.Separator)) {
		return nil, &report.Error{What: "the revision has no project in this folder", Where: "--" + role + " " + what, Err: err, Hint: "use a later revision"}
	}
	return &revision{name: what, role: role, session: session, root: root, asItIs: true}, nil
}

// build builds the image and the objects of a revision.
func (w *workshop) build(ctx context.Context, r *revision) error {
	if r.session == nil {
		return nil
	}
	begin := time.Now()
	w.Handler.Handle(report.Step{Name: "building " + r.name})
	d := delivery.Deployment{Folder: w.upgrade.Folder, Image: imageName(w.scratch, r.role), NoGenerate: r.asItIs}
	w.images = append(w.images, d.Image)
	if _, err := images.BuildImage(ctx, r.session, images.Build{Build: image.Build{Tag: d.Image, Package: w.upgrade.Manager}}); err != nil {
		return of(r.name, err)
	}
	var err error
	if r.shipment, err = delivery.Prepare(ctx, r.session, d); err != nil {
		return of(r.name, err)
	}
	w.Handler.Handle(report.Step{Name: "building " + r.name, Elapsed: time.Since(begin)})
	return nil
}

// of names the revision in an error.
func of(name string, err error) error {
	e, ok := errors.AsType[*report.Error](err)
	if !ok {
		return err
	}
	named := *e
	named.What, named.Next = name+": "+e.What, "" // the command would be for the folder of the revision
	return &named
}

// released makes a released manifest ready. Its images are pulled by the cluster's node.
func (w *workshop) released(ctx context.Context, what, file string) (*revision, error) {
	objects, err := kustomization.ReadManifests(ctx, file)
	if err != nil {
		return nil, err
	}
	r := &revision{name: what}
	r.shipment, err = delivery.PrepareObjects(w.Session, w.upgrade.Folder, objects)
	return r, err
}

// samples are the objects that users of a revision find in it.
func (r *revision) samples(ctx context.Context) []*unstructured.Unstructured {
	if r.session == nil {
		return nil
	}
	return r.session.Codebase(r.root).SampleObjects(ctx)
}

// serves reports whether a revision serves the kind of an object, in its version. Objects of other kinds go with those
// of its own.
func (r *revision) serves(o *unstructured.Unstructured) bool {
	kind := o.GroupVersionKind()
	if definition := r.definitionOf(o); definition != nil {
		return slices.Contains(ship.ServedVersions(definition), kind.Version)
	}
	return !strings.Contains(kind.Group, ".") || strings.HasSuffix(kind.Group, ".k8s.io")
}

// defines reports whether a revision defines the kind of an object.
func (r *revision) defines(o *unstructured.Unstructured) bool { return r.definitionOf(o) != nil }

// definitionOf is the definition of the kind of an object; nil if the revision has none.
func (r *revision) definitionOf(o *unstructured.Unstructured) *unstructured.Unstructured {
	for _, definition := range r.shipment.Objects {
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
		if ship.IsDefinition(definition) && group == o.GroupVersionKind().Group && name == o.GetKind() {
			return definition
		}
	}
	return nil
}

// load loads images into the cluster: those that were built, those that are asked for, and what else the revisions name
// that this machine has.
func (w *workshop) load(ctx context.Context, revisions ...*revision) error {
	if err := w.loadFetched(ctx); err != nil {
		return err
	}
	names := slices.Concat(w.images, w.upgrade.Load)
	here := images.Names(w.Session)
	for _, r := range revisions {
		for _, c := range ship.ContainerImages(r.shipment.Objects) {
			if ref, err := reference.Parse(c.Image); err == nil && slices.Contains(here, ref.Name()) && !slices.Contains(slices.Concat(names, w.fetched), c.Image) {
				names = append(names, c.Image)
			}
		}
	}
	for _, name := range names {
		if _, err := images.Load(ctx, w.Session, name, clusterName); err != nil {
			return err
		}
	}
	return nil
}

// removeImages removes what was built from the user's images.
func (w *workshop) removeImages() {
	if len(w.images) > 0 {
		_, _ = images.Remove(context.Background(), w.Session, w.images...) // what is not there need not go
	}
}

package delivery

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/addon"
	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/loaded"
	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// An Addition names the add-on to bring into an embedded cluster.
type Addition struct {
	Addon   string
	Cluster string
	Force   bool          // take over fields that other managers own
	Timeout time.Duration // for the add-on to become ready
}

// AddedAddon is the result of [Add]; the JSON form is stable.
type AddedAddon struct {
	Cluster string             `json:"cluster"`
	Addon   string             `json:"addon"`
	Version string             `json:"version"`
	Changed int                `json:"changed"`           // objects created, updated or deleted
	Foreign bool               `json:"foreign,omitempty"` // another tool installed it; nothing changed
	LeftOut []string           `json:"leftOut,omitempty"`
	Node    *clusterctl.Joined `json:"node,omitempty"` // the node that joined to run the add-on's programs
}

// Add brings an add-on into an embedded cluster and waits until it serves. Objects that are current stay untouched.
func Add(ctx context.Context, s *operation.Session, a Addition) (*AddedAddon, error) {
	defer s.Collector.Patiently()()
	if a.Timeout < 0 {
		return nil, negativeTimeout()
	}
	chosen, err := addon.Find(a.Addon)
	if err != nil {
		return nil, err
	}
	status, err := runningCluster(ctx, s, a.Cluster)
	if err != nil {
		return nil, err
	}
	if err := requireRealNode(chosen, status); err != nil {
		return nil, err
	}
	answer := &AddedAddon{Cluster: status.Name, Addon: chosen.Name, Version: chosen.Version(), LeftOut: chosen.LeftOut}
	tally := &tally{handler: s.Handler, verbose: s.Verbose}
	adding := &adding{Session: s, addon: chosen, status: status, to: a}
	if adding.cluster, err = ship.Connect(ship.Kubeconfig{Path: status.Kubeconfig}, tally); err != nil {
		return nil, err
	}
	state, err := stateOf(ctx, adding.cluster, chosen)
	if err != nil {
		return nil, err
	}
	if answer.Foreign = state == foreignAddon && !a.Force; !answer.Foreign {
		if answer.Node, err = adding.run(ctx); err != nil {
			return nil, err
		}
	}
	answer.Changed = len(tally.list())
	s.Handler.Handle(report.Result{Text: addedText(answer), Value: answer})
	return answer, nil
}

// runningCluster returns the status of a cluster, or an error if it is not ready.
func runningCluster(ctx context.Context, s *operation.Session, name string) (*clusterctl.Status, error) {
	status, err := clusterctl.New(s.Getenv, s.Handler).Status(ctx, clusters.ResolveName(s, name))
	if err != nil {
		return nil, err
	}
	if err := status.Problem(); err != nil {
		return nil, err
	}
	if status.State != clusterctl.Running || status.Nodes == nil {
		return nil, &report.Error{Class: report.NotReady, What: "cluster " + status.Name + " is not ready yet", Next: "slipway cluster status " + status.Name}
	}
	return status, nil
}

// requireRealNode refuses an add-on with programs if the cluster cannot have a real node. On a simulated node its
// webhooks would not answer, so the API server would refuse every object that they check.
func requireRealNode(a *addon.Addon, s *clusterctl.Status) error {
	if len(a.Programs) == 0 || hasRealNode(s) {
		return nil
	}
	return &report.Error{
		What: a.Name + " runs programs, and all pods of this cluster are simulated", Where: "cluster " + s.Name,
		Hint: "stop the cluster and start it with --nodes real, or without --nodes and --node, so that an isolated node can join",
		Next: "slipway cluster stop " + s.Name,
	}
}

// hasRealNode reports whether a cluster has a real node or one can join.
func hasRealNode(s *clusterctl.Status) bool {
	return s.Nodes.Real > 0 || s.Nodes.Joins && runtime.GOOS == "linux"
}

type adding struct {
	*operation.Session
	addon    *addon.Addon
	status   *clusterctl.Status
	cluster  *ship.Cluster
	to       Addition
	reported bool // the note that compiling takes long was shown
}

// tally records the objects that change. It passes their events on only if verbose, since an add-on has dozens.
type tally struct {
	handler report.Handler
	verbose bool
	mu      sync.Mutex
	changed []report.Object
}

// Handle implements [report.Handler].
func (t *tally) Handle(e report.Event) {
	object, ok := e.(report.Object)
	if ok && object.Action != report.Unchanged {
		t.mu.Lock()
		t.changed = append(t.changed, object)
		t.mu.Unlock()
	}
	if !ok || t.verbose {
		t.handler.Handle(e)
	}
}

func (t *tally) list() []report.Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.changed)
}

// run applies the add-on and returns the node that joined for it, or nil.
func (a *adding) run(ctx context.Context) (*clusterctl.Joined, error) {
	made, err := addon.Make(ctx, a.addon, a.Getenv, a.Handler)
	if err != nil {
		return nil, err
	}
	node, err := a.load(ctx, made)
	if err != nil {
		return nil, err
	}
	outdated, err := outdated(ctx, a.Session, a.cluster, made.Objects)
	if err != nil {
		return nil, err
	}
	o := ship.ApplyOptions{Set: addonSet(a.addon), Force: a.to.Force, Timeout: a.to.Timeout, Consent: consent(a.Session, false, "--yes", keepData), Restart: outdated, Wait: true}
	if err := a.cluster.Apply(ctx, made.Objects, o); err != nil {
		return nil, err
	}
	if probe := a.addon.Probe(); probe != nil {
		return node, a.cluster.AwaitAdmission(ctx, probe, a.to.Timeout)
	}
	return node, nil
}

// load builds the images of the add-on's programs and loads those that the cluster lacks. It then has a real node join
// if none has.
func (a *adding) load(ctx context.Context, made addon.Made) (*clusterctl.Joined, error) {
	if len(a.addon.Programs) == 0 {
		return nil, nil
	}
	account, err := images.RegistryAccount(a.Session, a.status.Name)
	if err != nil {
		return nil, err
	}
	local := image.New(a.Getenv, a.Handler)
	for _, program := range a.addon.Programs {
		built, err := a.build(ctx, local, program, made)
		if err != nil {
			return nil, err
		}
		there, err := loaded.Digests(ctx, a.status.Registry, program.Image)
		if err == nil && slices.Contains(there, built.Digest) {
			continue
		}
		if _, err := local.Load(ctx, image.Load{Ref: program.Image, Registry: a.status.Registry, Account: account}); err != nil {
			return nil, err
		}
	}
	node, err := images.JoinForImages(ctx, a.Session, a.status)
	if err == nil && node != nil && node.Problem != "" {
		err = &report.Error{What: a.addon.Name + " runs programs, and no isolated node can join", Where: "cluster " + a.status.Name, Err: errors.New(node.Problem),
			Hint: "docs/guides/real-nodes.md lists the requirements of real nodes", Next: "slipway cluster node join --name " + a.status.Name}
	}
	return node, err
}

// madeFrom labels an add-on's image with the ID of its sources.
const madeFrom = "dev.slipway.addon.sources"

// build returns the image of a program. It builds it unless the stored image was made from the same sources.
func (a *adding) build(ctx context.Context, images *image.Images, p addon.Program, made addon.Made) (image.Image, error) {
	kept, err := images.Inspect(ctx, image.Inspect{Ref: p.Image})
	if err == nil && len(kept.Platforms) == 1 && kept.Platforms[0].Labels[madeFrom] == made.ID {
		return kept, nil
	}
	if !a.reported {
		a.reported = true
		a.Handler.Handle(report.Note{Text: "the programs of " + a.addon.Name + " are compiled once, which can take minutes; after Ctrl-C the next run resumes"})
	}
	return images.Build(ctx, buildOf(p, made))
}

func buildOf(p addon.Program, made addon.Made) image.Build {
	system := "linux"
	if runtime.GOOS == "darwin" { // pods there are plain processes
		system = runtime.GOOS
	}
	return image.Build{Tag: p.Image, Dir: made.Dir, Package: p.Package, Platforms: []string{system + "/" + runtime.GOARCH}, Labels: map[string]string{madeFrom: made.ID}}
}

// addonSet returns the inventory of an add-on in a cluster.
func addonSet(a *addon.Addon) *ship.Set {
	return &ship.Set{Project: "addon-" + a.Name, Namespace: "kube-system", Version: operation.ToolVersion(), Makes: a.Makes}
}

func addedText(a *AddedAddon) string {
	what := a.Addon + " " + a.Version
	switch {
	case a.Foreign:
		return "cluster " + a.Cluster + " has " + a.Addon + " already, installed by another tool: nothing changed; --force-conflicts takes it over"
	case a.Changed == 0:
		return "cluster " + a.Cluster + " has " + what + " already: nothing changed"
	}
	lines := []string{"cluster " + a.Cluster + " has " + what}
	if a.Node != nil {
		lines = append(lines, clusters.DescribeJoin(*a.Node))
	}
	if len(a.LeftOut) > 0 {
		lines = append(lines, "left out: "+strings.Join(a.LeftOut, ", "))
	}
	return strings.Join(lines, "\n")
}

// AddonNames returns the names of all add-ons, for completion.
func AddonNames() []string { return addon.Names() }

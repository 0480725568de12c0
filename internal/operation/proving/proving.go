// Package proving proves the project's operator: it shows what the operator does when something fails.
package proving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/junit"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/prove/page"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// A Proof is what to prove, and how.
type Proof struct {
	Scenario string // file; empty means that the samples are applied, changed and deleted
	Manager  string // folder of the manager's main package, if there are several
	Clusters int    // side by side
	Depth    int    // how many failures a run has at most: 1 or 2
	All      bool   // faults at every request
	Seed     int64  // has the plans in an order that is drawn with it; 0: those that find most come first
	Plans    int    // at most; 0: all

	TimeTravel bool // also starts with caches that show the past

	Replay  string // the ID of the only plan to run
	Keep    bool   // the cluster stays behind a replay, until the user ends it
	Debug   bool   // the replay runs the manager under Delve
	Test    bool   // the finding of the replay is written as a Go test of the project
	Command string // of the operator, in place of the project's manager; words as a shell reads them
	Budget  time.Duration
	Shard   string // K/N: the plans of share K of N
	Learned string // file of what runs without a failure have shown, or ""
	JUnit   string // file for the report in JUnit's form, or ""
	HTML    string // file for the report as a page, or ""
}

// scratchPrefix begins the names of the folders of proofs.
const scratchPrefix = "slipway-prove-"

// Prove proves an operator. It fails if there are findings, and returns the report then, too.
func Prove(ctx context.Context, s *operation.Session, p Proof) (_ *prove.Report, err error) {
	defer s.Collector.Patiently()()
	scratch, err := userdirs.NewScratch(scratchPrefix)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, scratch.Remove()) }()
	b := &bench{Session: s, proof: p, scratch: scratch.Path}
	if err := b.check(); err != nil {
		return nil, err
	}
	if err := b.locate(); err != nil {
		return nil, err
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	defer ending.Await(ctx, "the proof's end")()
	ctx, b.stop = context.WithCancelCause(ctx)
	defer b.stop(nil)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	detach := context.AfterFunc(ctx, end)
	session, err := clusterctl.New(s.Getenv, s.Handler).Tie(life, "prove", clusterctl.Options{Socket: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close(), b.close()) }()
	clusters, err := b.clusters(ctx, session)
	if err != nil {
		return nil, b.explain(err)
	}
	known, err := b.recall()
	if err != nil {
		return nil, err
	}
	s.Handler.Handle(report.Step{Name: "proving the operator"})
	proof := prove.Proof{
		Known:  known,
		Socket: session.Socket, Clusters: clusters, Scenario: b.scenario, All: p.All, Travel: p.TimeTravel, Seed: p.Seed, Most: p.Plans, Depth: p.Depth, Replay: p.Replay,
		Budget: p.Budget, Shard: b.shard, Shards: b.shards,
		Doing: func(text string) { s.Handler.Handle(report.Detail{Text: text}) },
	}
	var concluded error
	if p.Keep {
		proof.Keep = func(found *prove.Report, operator prove.Process) error {
			concluded = b.conclude(found)
			return b.keep(ctx, detach, session, operator)
		}
	}
	found, err := proof.Run(ctx)
	if wrong, ok := errors.AsType[*prove.ScenarioError](errors.Join(err, context.Cause(ctx))); ok {
		return nil, b.mistake(wrong)
	}
	if found == nil {
		return nil, b.explain(err)
	}
	if known == nil {
		if err := b.retain(found.Knowledge); err != nil {
			return nil, err
		}
	}
	if !p.Keep {
		concluded = b.conclude(found)
	}
	return found, errors.Join(b.explain(err), concluded)
}

// A bench is where an operator is proved.
type bench struct {
	*operation.Session
	proof     Proof
	scratch   string
	root      string // of the project; empty without one
	scenario  prove.Scenario
	install   []string   // files and folders of manifests
	command   []string   // of the operator; empty: the project's manager
	operators []operator // if there are several; command is then that of the first one
	manager   *dev.Beside
	main      string // the package of the manager
	kinds     prove.Kinds
	fronts    []*dev.Front
	identity  prove.Identity
	env       map[string]string // of the operator
	services  []service
	hosted    []*hosted
	logs      processLogs
	stop      context.CancelCauseFunc // ends the proof
	// debuggers are those under which the manager has run.
	debuggers []*dev.Debugger
	// acceptances are read before anything is compiled.
	acceptances []prove.Acceptance
	// shard is the share of shards; both are 0 if all plans are carried out.
	shard, shards int
}

// A program is how a process of an operator is started.
type program struct {
	words   []string          // command; that of a scenario has placeholders
	env     map[string]string // of this one of several operators
	project []string          // variables that the project gives it, unless the user sets others
	last    []string          // variables that nothing overrides
	fixed   bool              // the words have no placeholders
}

// start starts a process of the operator. It has a port of its own: two of them work side by side on one machine.
func (b *bench) start(p program, kubeconfig string, ports *strings.Replacer) (started prove.Process, err error) {
	port, err := freePort(context.Background())
	if err != nil {
		return started, err
	}
	own := strings.NewReplacer("{kubeconfig}", kubeconfig, "{port}", port)
	if !p.fixed {
		p.words = replaced(replaced(p.words, ports), own)
	}
	cmd, err := process.Command(p.words[0], p.words[1:]...)
	if err != nil {
		return started, err
	}
	log, file, err := b.logs.open(b.scratch)
	if err != nil {
		return started, err
	}
	defer file.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.Dir, file, file
	given := replaced(slices.Concat(variables(b.env, ports), variables(p.env, ports)), own)
	cmd.Env = slices.Concat(p.project, b.Environ, given, p.last, []string{"KUBECONFIG=" + kubeconfig}) // the last one counts
	started.Child, err = process.Start(cmd)
	started.Turn, started.Panic, started.Ended = log.comes, log.panic, log.remove
	return started, err
}

// sit starts a process of the project's manager.
func (b *bench) sit(front *dev.Front, s dev.Seat, kubeconfig string, ports *strings.Replacer) (prove.Process, error) {
	started, err := b.start(program{words: s.Command, project: s.Environment, last: s.Webhooks, fixed: true}, kubeconfig, ports)
	logs := started.Turn
	started.Turn = func() { logs(); front.Turn(s) }
	return started, err
}

// single is the only operator, whose processes come into a cluster.
func (b *bench) single(ctx context.Context, cluster *ship.Cluster, ports *strings.Replacer) (o prove.Operator, err error) {
	o.Identity = orAlmighty(b.identity)
	if b.manager == nil {
		o.Launch = func(kubeconfig string) (prove.Process, error) {
			return b.start(program{words: b.command}, kubeconfig, ports)
		}
		return o, nil
	}
	front, err := b.manager.Serve(ctx, cluster, b.identity.Namespace, filepath.Join(b.scratch, fmt.Sprintf("front-%d", len(b.fronts))))
	if err != nil {
		return o, err
	}
	b.fronts = append(b.fronts, front)
	o.Launch = func(kubeconfig string) (prove.Process, error) {
		seat, err := front.Seat()
		if err != nil {
			return prove.Process{}, err
		}
		return b.sit(front, seat, kubeconfig, ports)
	}
	if front.Serves() {
		o.Interrupt = front.Interrupt
	}
	if b.proof.Debug {
		o.Debug = func(kubeconfig string) (prove.Process, error) { return b.debug(front, kubeconfig, ports) }
	}
	return o, nil
}

// close ends what serves webhooks, the services, and connections to debuggers.
func (b *bench) close() (err error) {
	for _, debugger := range b.debuggers {
		_ = debugger.Close() // its Delve has ended
	}
	for _, front := range b.fronts {
		err = errors.Join(err, front.Close())
	}
	for _, h := range b.hosted {
		h.child.Kill()
		<-h.child.Done()
	}
	return err
}

// log is what commands of the scenario print.
func (b *bench) log() string { return filepath.Join(b.scratch, "commands.log") }

// clusters prepares those in which the operator is proved.
func (b *bench) clusters(ctx context.Context, session *clusterctl.Session) (all []prove.Cluster, err error) {
	conn, err := protocol.Dial(ctx, session.Socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	kubeconfigs := []string{session.Kubeconfig}
	names := []string{""}
	for i := range b.proof.Clusters - 1 {
		var added protocol.LogicalAdded
		name := fmt.Sprintf("p%d", i+1)
		if err := conn.Call("addLogical", protocol.AddLogical{Name: name}, &added, func(protocol.Event) {}); err != nil {
			return nil, err
		}
		kubeconfigs, names = append(kubeconfigs, added.Kubeconfig), append(names, name)
	}
	for i, kubeconfig := range kubeconfigs {
		cluster, err := b.equip(ctx, kubeconfig)
		if err != nil {
			return nil, err
		}
		cluster.Logical = names[i]
		all = append(all, cluster)
	}
	return all, nil
}

// equip installs what the operator needs.
func (b *bench) equip(ctx context.Context, kubeconfig string) (c prove.Cluster, err error) {
	cluster, err := ship.Connect(ship.Kubeconfig{Path: kubeconfig}, report.Discard)
	if err != nil {
		return c, err
	}
	if b.root != "" {
		if err := b.bring(ctx, cluster); err != nil {
			return c, err
		}
	}
	objects, err := b.objects(ctx)
	if err != nil {
		return c, err
	}
	if err := cluster.Apply(ctx, append(objects, b.almightyRights()...), ship.ApplyOptions{Force: true}); err != nil {
		return c, err
	}
	served, err := cluster.ServedResources(ctx)
	if err != nil {
		return c, err
	}
	c = prove.Cluster{Client: cluster.Client(), Kinds: prove.Kinds{}}
	for _, r := range served {
		c.Kinds[schema.GroupKind{Group: r.Group, Kind: r.Kind}] = prove.Place{Resource: r.Resource, Version: r.Version, Namespaced: r.Namespaced}
	}
	before := len(b.hosted)
	ports, err := b.host(ctx)
	if err != nil {
		return c, err
	}
	c.Exec = func(ctx context.Context, words []string) error {
		return b.exec(ctx, replaced(words, ports), kubeconfig)
	}
	c.Reset = b.resetter(b.hosted[before:], ports, kubeconfig)
	b.kinds = c.Kinds
	c.Operators, err = b.team(ctx, cluster, ports)
	return c, err
}

// almighty is an operator without a ServiceAccount of its own.
const almighty = "slipway:prove"

// rights let an operator without a ServiceAccount of its own do everything.
func rights(user string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": user},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}},
	}}
}

// explain says what an error means for users.
func (b *bench) explain(err error) error {
	if wrong, ok := errors.AsType[*prove.ScenarioError](err); ok {
		return b.mistake(wrong)
	}
	switch {
	case errors.Is(err, prove.ErrUnfit):
		confined := ""
		if confines := b.confines(); confines != "" {
			confined = "the manager works in the namespace " + confines + " only; "
		}
		return &report.Error{Class: report.BadProject, What: "the operator cannot be proved", Where: b.where(), Err: err, Hint: confined + "without a fault it has to change something and to come to rest; its log ends with:\n" + tail(b.logs.last())}
	case errors.Is(err, prove.ErrNoPlan):
		return &report.Error{What: "there is no such plan", Where: "--replay " + b.proof.Replay, Hint: "the operator or the scenario has changed since", Next: "slipway prove", Code: report.UsageCode}
	}
	return err
}

func (b *bench) where() string {
	if b.proof.Scenario != "" {
		return b.proof.Scenario
	}
	return b.root
}

// conclude shows the report and decides how the command ends.
func (b *bench) conclude(found *prove.Report) error {
	b.accept(found)
	found.Command = operation.NewCommandLine("slipway prove",
		operation.FlagIf(b.proof.Scenario != "", "-f "+shellword.Quote(b.proof.Scenario)),
		operation.FlagIf(b.proof.Manager != "", "--manager "+shellword.Quote(b.proof.Manager)),
		operation.FlagIf(b.proof.Command != "", "--command "+shellword.Quote(b.proof.Command)))("")
	b.Handler.Handle(report.Result{Text: found.Text(), Value: found.JSON()})
	if b.proof.JUnit != "" {
		if err := junit.Write(b.Absolute(b.proof.JUnit), found.JUnit()); err != nil {
			return err
		}
	}
	if b.proof.HTML != "" {
		about := page.About{Subject: cmp.Or(b.proof.Scenario, filepath.Base(b.root)), Command: found.Command}
		if err := page.Write(b.Absolute(b.proof.HTML), found, about); err != nil {
			return err
		}
	}
	n := found.New()
	if b.proof.Test {
		if err := b.writeTest(n); err != nil {
			return err
		}
	}
	if len(n) == 0 {
		return nil
	}
	next := found.Command + " --replay " + n[0].Plans[0].ID()
	return &report.Error{What: operation.Count(len(n), "finding") + " in the operator", Where: b.where(), Hint: "correct the operator, or accept a finding in " + acceptedFile, Next: next}
}

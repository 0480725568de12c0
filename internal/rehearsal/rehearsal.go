// Package rehearsal carries out the upgrade of an operator in a cluster that is thrown away, and says what users of the
// operator would see of it.
//
//	report, err := rehearsal.Rehearsal{Cluster: cluster, From: old, To: new, Samples: samples}.Run(ctx)
//
// A rehearsal is a fixed sequence. The old revision is deployed, and the samples are applied. When nothing in the
// cluster changes any more, all objects are read. Then the new revision is deployed, while a client reads and writes
// each custom resource in each version that the old revision serves, a request every 20 milliseconds ([client]). When
// all is at rest again, the objects are compared by meaning ([upgrade.compare]), and each version is tried once more:
// objects are written as users would, and must keep their fields ([trials]). Last the old revision is deployed again,
// which is the way back, and all is compared with the beginning.
//
// What is wrong is a [Finding]. A finding is fatal if a user loses something: data, service, or the way back. Others
// are for the eye, such as pods that were replaced. What the old revision does wrong by itself is no finding.
package rehearsal

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// A Revision is a state of an operator that can be deployed.
type Revision struct {
	Name    string                       // as users know it
	Objects []*unstructured.Unstructured // that it consists of
	// Deploy brings it into the cluster, in place of another revision, and returns when it is ready.
	Deploy func(ctx context.Context) error
}

// A Rehearsal is an upgrade to try. All fields are required but Patience.
type Rehearsal struct {
	Cluster  *ship.Cluster // has nothing of the operator yet
	From, To Revision
	Samples  []*unstructured.Unstructured // objects of users, as their manifests have them
	Handler  report.Handler
	// Patience bounds how long changes are waited for to end; 0 means [DefaultPatience].
	Patience time.Duration
}

// DefaultPatience is the default of [Rehearsal.Patience].
const DefaultPatience = 30 * time.Second

// Run carries out the rehearsal. It is an error if the old revision cannot be deployed or does not take the samples:
// then there is nothing to upgrade. All that is wrong with the new revision is in the report.
func (r Rehearsal) Run(ctx context.Context) (*Report, error) {
	if r.Patience == 0 {
		r.Patience = DefaultPatience
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	u := &upgrade{Rehearsal: r, report: newReport(r), kinds: kindsOf(r.From.Objects), failed: map[string]bool{}, restless: map[string]bool{}}
	defer func() {
		if u.watch != nil {
			u.watch.stop()
		}
	}()
	if err := u.begin(ctx); err != nil {
		return nil, err
	}
	if err := u.forward(ctx); err != nil {
		return nil, err
	}
	if err := u.back(ctx); err != nil {
		return nil, err
	}
	u.report.finish()
	return u.report, nil
}

// upgrade is one run of a rehearsal.
type upgrade struct {
	Rehearsal
	report *Report
	kinds  []kind // of the old revision
	watch  *watcher

	bare   *snapshot       // of the cluster before the samples
	before *snapshot       // at rest, under the old revision
	trials *trials         // what the old revision makes of objects
	failed map[string]bool // errors of managers that are known
	down   map[string]bool // requests that are refused, by target

	// These are known of the old revision.
	wanes    map[types.UID]map[string]bool // fields that come and go
	restless map[string]bool               // objects that never come to rest
	restarts int                           // of its managers' containers
}

// begin deploys the old revision and the samples, and reads what there is then.
func (u *upgrade) begin(ctx context.Context) (err error) {
	if err := u.step("deploying "+u.From.Name, func() error { return u.From.Deploy(ctx) }); err != nil {
		return err
	}
	if u.watch, err = startWatcher(ctx, u.Cluster, u.kinds); err != nil {
		return err
	}
	u.rest(ctx, fromPhase)
	if u.bare, err = takeSnapshot(ctx, u.Cluster, u.kinds); err != nil {
		return err
	}
	if err := u.step("applying the samples", func() error { return u.Cluster.Apply(ctx, u.Samples, ship.ApplyOptions{}) }); err != nil {
		return &report.Error{What: u.From.Name + " does not take its own objects", Err: err, Hint: "correct the samples, or name other objects with --objects"}
	}
	u.rest(ctx, fromPhase)
	if u.before, err = takeSnapshot(ctx, u.Cluster, u.kinds); err != nil {
		return err
	}
	u.report.Objects = len(u.before.resources)
	u.trials = newTrials(u)
	if err := u.trials.learn(ctx); err != nil {
		return err
	}
	u.rest(ctx, fromPhase)
	u.before, err = takeSnapshot(ctx, u.Cluster, u.kinds)
	u.wanes = u.watch.wane()
	u.addFailures(ctx, fromPhase, u.From)
	u.restarts = u.restartsOf(ctx, u.From)
	return err
}

// forward deploys the new revision under the eyes of a client, and finds what has changed.
func (u *upgrade) forward(ctx context.Context) error {
	if err := u.change(ctx, u.To, upgradePhase); err != nil {
		return err
	}
	return u.trials.compare(ctx)
}

// back deploys the old revision again.
func (u *upgrade) back(ctx context.Context) error { return u.change(ctx, u.From, backPhase) }

// change replaces the revision that runs by another one, while a client reads and writes.
func (u *upgrade) change(ctx context.Context, to Revision, phase Phase) error {
	c := startClient(ctx, u.Cluster, u.before, u.trials.possible)
	begin := time.Now()
	failed := u.step("deploying "+to.Name+" while a client reads and writes", func() error { return to.Deploy(ctx) })
	if ctx.Err() != nil {
		c.stop(ctx)
		return ctx.Err()
	}
	if failed != nil {
		u.report.add(Finding{Phase: phase, Class: NotDeployed, Object: to.Name, Text: report.Advised(failed), Fatal: true})
	}
	took := time.Since(begin)
	u.awaitLeader(ctx)
	u.rest(ctx, phase)
	seen := c.stop(ctx)
	u.report.addService(phase, seen, u.down, took)
	u.down = seen.down()
	after, err := takeSnapshot(ctx, u.Cluster, u.kinds)
	if err != nil {
		return err
	}
	u.report.add(u.compare(phase, after)...)
	u.noteStored(phase, after)
	u.addFailures(ctx, phase, to)
	if n := u.restartsOf(ctx, to); n > u.restarts {
		u.report.add(Finding{Phase: phase, Class: ManagerFails, Object: to.Name, Text: fmt.Sprintf("its managers' containers were started again %d times", n), Fatal: true})
	}
	return nil
}

// rest waits until nothing changes any more, and reports what does not come to rest.
func (u *upgrade) rest(ctx context.Context, phase Phase) {
	_ = u.step("waiting until nothing changes any more", func() error {
		for _, busy := range u.watch.rest(ctx, u.Patience) {
			if known := u.restless[busy]; known || phase == fromPhase {
				u.restless[busy] = true
				continue
			}
			u.report.add(Finding{Phase: phase, Class: Restless, Object: busy, Text: "still changes after " + u.Patience.String()})
		}
		return nil
	})
}

// step reports a step of the rehearsal.
func (u *upgrade) step(name string, do func() error) error {
	begin := time.Now()
	u.Handler.Handle(report.Step{Name: name})
	err := do()
	if err == nil {
		u.Handler.Handle(report.Step{Name: name, Elapsed: time.Since(begin)})
	}
	return err
}

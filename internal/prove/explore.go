// Package prove finds what an operator does wrong when something fails. It runs a scenario again and again in clusters
// of its own, each time with one fault, and compares what is there at rest with runs without a fault:
//
//	proof := prove.Proof{Socket: …, Clusters: …, Scenario: …}
//	report, err := proof.Run(ctx)
//
// The operator is a program that gets a kubeconfig; it is neither changed nor looked into. Faults are committed by the
// front door through which it talks to the API server: only what a real server, network or machine may do.
//
// A run is judged by its states at rest. Since a state that is as expected is known at once, most runs wait for
// milliseconds. What is found is tried again, by a new process and with more patience, before it counts.
package prove

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
)

// A Cluster is one in which runs are carried out. It is used for nothing else.
type Cluster struct {
	Logical string // its name in the cluster's program; empty: the main one
	Client  dynamic.Interface
	Kinds   Kinds
	// Operators are proved together. If there are several, each has a name.
	Operators []Operator
	// Exec runs a command of a step, as an administrator of the cluster.
	Exec func(ctx context.Context, words []string) error
	// Reset brings what is outside of the cluster back to its beginning, before each run; may be nil.
	Reset func(context.Context) error
}

// A Proof is what is to be proved, and where.
type Proof struct {
	Socket   string // of the clusters' program
	Clusters []Cluster
	Scenario Scenario
	Depth    int    // 2: also two faults in a run, behind those with one
	All      bool   // faults at each request, not only at the first of a sort in a step
	Travel   bool   // also starts with caches that show the past
	Replay   string // the ID of the only plan that is to be run, with more patience
	// Keep is called behind a replay, while the cluster and the operator's process are as the plan has left them. It
	// may be nil.
	Keep func(*Report, Process) error
	// Seed draws the order of the plans, the same for each run with it; 0: those that find most come first.
	Seed int64
	// Most bounds the number of plans; 0: all are carried out.
	Most int
	// Budget bounds the time in which plans are begun; 0: all are carried out.
	Budget time.Duration
	// Shard and Shards divide the plans among several runs: this one has the plans of one share, from 1. 0: all.
	Shard, Shards int
	// Known spares the learning; nil: there is none.
	Known *Knowledge
	// Doing gets what is being done, as lines. One goroutine at a time calls it.
	Doing func(string)
}

// ErrNoPlan says that no plan has the ID.
var ErrNoPlan = errors.New("no plan has this ID")

// Run learns what the operator does without a fault, and then carries out all plans. A run that is given up reports
// what it has found, beside the error.
func (p Proof) Run(ctx context.Context) (_ *Report, err error) {
	begin := time.Now()
	workers := make([]*worker, len(p.Clusters))
	var known Knowledge
	if p.Known != nil {
		if err := p.Known.fits(p.Scenario); err != nil {
			return nil, err
		}
		known = *p.Known
	} else {
		known.Key = make([]byte, sha256.Size)
		_, _ = rand.Read(known.Key) // never fails
	}
	defer func() {
		for _, w := range workers {
			if w != nil {
				err = errors.Join(err, w.close(context.WithoutCancel(ctx)))
			}
		}
	}()
	for i, c := range p.Clusters {
		if workers[i], err = p.worker(ctx, c, known.Key); err != nil {
			return nil, err
		}
	}
	if p.Known == nil {
		if known.Reference, err = workers[0].learn(ctx, p.Doing); err != nil {
			return nil, err
		}
		known.Events = workers[0].world.readsEvents()
	}
	ref := known.Reference
	if !known.Events { // they are as many as all other writes
		for _, w := range workers {
			if err := w.lab.muteEvents(ctx); err != nil {
				return nil, err
			}
		}
	}
	plans, err := p.plans(ref)
	if err != nil {
		return nil, err
	}
	e := &exploration{Proof: p, ref: ref, plans: plans, known: map[string]*Finding{}, report: &Report{Scenario: p.Scenario, Of: len(plans), Results: resultsOf(plans), Knowledge: known, Leftover: ref.leftover, Warnings: ref.warnings, Refused: sorted(slices.Collect(maps.Keys(ref.refused))), Varying: ref.varying(), Learning: time.Since(begin)}}
	for _, r := range ref.requests {
		e.report.Requests = append(e.report.Requests, r.point)
		if r.effective {
			e.report.Writes++
		}
	}
	begin = time.Now()
	e.begin = begin
	err = e.explore(ctx, workers)
	e.report.Exploring = time.Since(begin)
	if err == nil {
		e.report.Memory, err = workers[0].lab.memory(ctx)
	}
	slices.Sort(e.report.Durations)
	if err == nil {
		err = p.keep(e.report, workers)
	}
	return e.report, err
}

func (p Proof) worker(ctx context.Context, c Cluster, key []byte) (*worker, error) {
	world := newWorld(key, c.Kinds)
	world.ignore = p.Scenario.Ignore
	lab, err := dialLab(ctx, p.Socket, c.Logical, world.see)
	if err != nil {
		return nil, err
	}
	w := &worker{lab: lab, world: world, driver: driver{c.Client, c.Kinds, c.Exec}, outside: c.Reset, operators: c.Operators, scenario: p.Scenario}
	return w, errors.Join(lab.keep(ctx), lab.follow(ctx))
}

// An exploration carries out plans.
type exploration struct {
	Proof
	ref    *Reference
	plans  []Plan
	report *Report

	begin time.Time
	mu    sync.Mutex
	known map[string]*Finding // by the symptom
	next  int

	controlled sync.Once
	unreliable error // why the reference is; nil: it is not, as far as is known
}

func (e *exploration) explore(ctx context.Context, workers []*worker) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range workers {
		group.Go(func() error {
			for {
				plan, ok := e.take()
				if !ok || ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := e.try(ctx, w, plan); err != nil {
					return err
				}
			}
		})
	}
	err := group.Wait()
	e.collect()
	return err
}

func (e *exploration) take() (Plan, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next == len(e.plans) || e.Budget > 0 && time.Since(e.begin) > e.Budget {
		return Plan{}, false
	}
	plan := e.plans[e.next]
	e.next++
	return plan, true
}

// run carries out a plan once.
func (e *exploration) run(ctx context.Context, w *worker, plan Plan, calm bool) (*outcome, error) {
	o, err := w.run(ctx, plan, e.ref, calm)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", plan.Sentence(e.Scenario.Steps), err)
	}
	return o, nil
}

// try carries out a plan. A symptom that has not come again yet is tried again.
func (e *exploration) try(ctx context.Context, w *worker, plan Plan) error {
	if e.Replay != "" {
		w.prepareReplay(e.Keep != nil)
	}
	got, err := e.run(ctx, w, plan, e.Replay != "")
	if err != nil {
		return err
	}
	found := e.note(plan, got)
	if e.Replay != "" {
		e.report.Timeline = timeline(e.ref, got)
		if found != nil {
			found.Confirmed = true
		}
		return nil
	}
	if found == nil {
		return nil
	}
	for range triesOfPlan {
		again, err := e.run(ctx, w, plan, true)
		if err == nil && len(again.symptoms) > 0 {
			err = e.control(ctx, w)
		}
		if err != nil || e.confirm(found, plan, again) {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	found.trying = false
	return nil
}

// triesOfPlan is how often a plan is tried again, since what an operator does may be a matter of moments.
const triesOfPlan = 2

// confirm notes that a finding was looked for again, and reports whether it has come.
func (e *exploration) confirm(found *Finding, plan Plan, again *outcome) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	found.Tries++
	for _, s := range again.symptoms {
		if found.Symptom.comesIn(&s) {
			found.Confirmed, found.Symptom, found.trying = true, s, false
			found.Writes = story(e.ref, again)
			e.report.note(e.ref, plan, again, &s)
			found.Plans = append([]Plan{plan}, slices.DeleteFunc(found.Plans, func(p Plan) bool { return p == plan })...)
			return true
		}
	}
	return false
}

// comesIn reports whether another symptom has what s is known by. It then has it in the first place, too.
func (s Symptom) comesIn(other *Symptom) bool {
	if s.Oracle != other.Oracle || s.Step != other.Step {
		return false
	}
	if len(s.Differences) == 0 || s.Oracle == Restless {
		return s.key() == other.key()
	}
	known := s.Differences[0]
	i := slices.IndexFunc(other.Differences, func(d Difference) bool { return d.Object == known.Object && d.Field == known.Field })
	if i > 0 {
		other.Differences[0], other.Differences[i] = other.Differences[i], other.Differences[0]
	}
	return i >= 0
}

// mostTries bounds how many plans with a symptom are tried again until it comes again.
const mostTries = 4

// note counts a run. It returns the finding that has to be tried again, if any.
func (e *exploration) note(plan Plan, got *outcome) *Finding {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.report
	r.Plans++
	r.Durations = append(r.Durations, got.elapsed)
	if !got.struck {
		r.Unstruck++
	}
	defer func() {
		e.Doing(fmt.Sprintf("%d of %d plans, %d symptoms", r.Plans, r.Of, len(e.known)))
	}()
	if len(got.symptoms) == 0 || !got.struck { // what comes without the fault is not its doing
		r.note(e.ref, plan, got, nil)
		return nil
	}
	s := got.symptoms[0]
	r.note(e.ref, plan, got, &s)
	f := e.known[s.key()]
	if f == nil {
		f = &Finding{ID: shortID(s.key())}
		e.known[s.key()] = f
	}
	f.Plans = append(f.Plans, plan)
	if f.Confirmed || f.trying || f.tried == mostTries {
		return nil
	}
	f.trying, f.tried = true, f.tried+1
	f.Symptom, f.Writes = s, story(e.ref, got)
	return f
}

// collect puts the findings in order: those that came again first, and of these those with most plans.
func (e *exploration) collect() {
	found := slices.SortedFunc(maps.Values(e.known), func(a, b *Finding) int {
		confirmed := func(f *Finding) int { return map[bool]int{true: 0, false: 1}[f.Confirmed] }
		return cmp.Or(cmp.Compare(confirmed(a), confirmed(b)), cmp.Compare(len(b.Symptom.Differences), len(a.Symptom.Differences)), strings.Compare(a.ID, b.ID))
	})
	for _, f := range found {
		if whole := e.report.partOf(f); whole != nil {
			whole.Plans = append(whole.Plans, f.Plans...)
			continue
		}
		e.report.Findings = append(e.report.Findings, *f)
	}
	slices.SortStableFunc(e.report.Findings, func(a, b Finding) int { return cmp.Compare(len(b.Plans), len(a.Plans)) })
}

// partOf is a finding that f is a part of: what is different by f is so by it, too, after the same step. It is nil if
// there is none.
func (r *Report) partOf(f *Finding) *Finding {
	for i, other := range r.Findings {
		if other.Symptom.Oracle != Diverged || f.Symptom.Oracle != Diverged || other.Symptom.Step != f.Symptom.Step || other.Confirmed != f.Confirmed {
			continue
		}
		within := func(d Difference) bool { return slices.Contains(other.Symptom.Differences, d) }
		if !slices.ContainsFunc(f.Symptom.Differences, func(d Difference) bool { return !within(d) }) {
			return &r.Findings[i]
		}
	}
	return nil
}

// around is how many writes a story has before and behind the fault.
const around = 4

// story are the operator's writes around the fault.
func story(ref *Reference, o *outcome) (writes []Write) {
	at := -1
	for _, r := range o.requests {
		if !r.writes() && r.fault == "" {
			continue
		}
		text := ref.point(r).String() + answered(r)
		if r.fault != "" {
			at = len(writes)
			text += " ← " + r.fault
		}
		writes = append(writes, Write{text, r.fault != ""})
	}
	if at < 0 {
		return writes[max(0, len(writes)-2*around):]
	}
	return writes[max(0, at-around):min(len(writes), at+around+1)]
}

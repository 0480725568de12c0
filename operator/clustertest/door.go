package clustertest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
)

// A Door is an entrance to a cluster for one process, at which its requests fail as a test has it. The process knows
// nothing of that: it gets a kubeconfig, and may be written in any language. Use [Account.OpenDoor].
type Door struct {
	account *Account
	opened  protocol.DoorOpened

	mu       sync.Mutex
	asked    bool                // for anything
	inFlight map[int64]bool      // requests, by their serials
	last     time.Time           // of a request, or of an event that a watch has sent
	failures map[string]*Failure // that are not committed, by their names
	faults   int                 // that there were
}

// OpenDoor opens a door for a process that works under the account. It is closed at the end of t.
func (a *Account) OpenDoor(t testing.TB) *Door {
	t.Helper()
	d := &Door{account: a, inFlight: map[int64]bool{}, last: time.Now(), failures: map[string]*Failure{}}
	ask := protocol.OpenDoor{
		Logical: a.cluster.logical, User: a.user(), Namespace: a.Namespace, Inspect: &protocol.Inspect{},
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + a.Namespace, "system:authenticated"},
	}
	conn := a.cluster.conn
	if err := conn.Call(t.Context(), "openDoor", ask, &d.opened); err != nil {
		fatal(t, d.failed("opened", err))
	}
	end := conn.Follow(d.opened.Name, d.see)
	t.Cleanup(func() {
		defer end()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cleanupTime)
		defer cancel()
		if err := conn.Call(ctx, "closeDoor", protocol.CloseDoor{Name: d.opened.Name}, nil); err != nil {
			t.Errorf("clustertest: %s", fault.Text(d.failed("closed", err)))
		}
	})
	return d
}

// Kubeconfig returns the path of the file with which the process comes in. It goes with the door.
func (d *Door) Kubeconfig() string { return d.opened.Kubeconfig }

func (d *Door) failed(what string, err error) error {
	return &fault.Error{What: "a door of " + d.account.user() + " cannot be " + what, Err: d.account.cluster.because(err)}
}

// see takes what is reported of the door.
func (d *Door) see(r protocol.Report) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch r.Name {
	case protocol.EventBegun:
		d.inFlight[r.Serial], d.asked = true, true
	case protocol.EventRequest:
		delete(d.inFlight, r.Serial)
	case protocol.EventStruck:
		if f := d.failures[r.Fault]; f != nil {
			f.serial = r.Serial
			close(f.struck)
			delete(d.failures, r.Fault) // the first time counts
		}
	}
	d.last = time.Now()
}

// How long a process asks for nothing before it counts as being at rest, and how long [Door.WaitForRest] waits for
// that.
const (
	restTime   = time.Second
	mostUnrest = 20 * time.Second
)

// WaitForRest waits until the process has begun to work, and has then asked for nothing for a second. One that asks by
// the clock never rests: it is waited for no longer than twenty seconds.
func (d *Door) WaitForRest(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), mostUnrest)
	defer cancel()
	_ = until(ctx, func(context.Context) (bool, error) { return d.rests(), nil }) // it fails for lack of time alone
}

func (d *Door) rests() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked && len(d.inFlight) == 0 && time.Since(d.last) > restTime
}

// A FailureKind is a way in which a request fails. Each may happen to any client of an API server.
type FailureKind string

// The kinds of failures, with the names that `slipway prove` has for them.
const (
	// The API server carries the request out, and the connection ends before its answer.
	Lost FailureKind = "lost"
	// As Lost, and nothing that comes later is let in: the test kills the process, which gets another door.
	KilledAfter FailureKind = "killed-after"
	// As KilledAfter, and the API server does not get the request.
	KilledBefore FailureKind = "killed-before"
	// The request is answered with a [Fault.Status], and the API server does not get it.
	Refused FailureKind = "refused"
	// Watches of the resource deliver nothing from before the request until [Failure.Release].
	Stale FailureKind = "stale"
	// The request waits for [Failure.Release] before the API server gets it, so that the test can write its object
	// first.
	Overtaken FailureKind = "overtaken"
)

// A Fault is a request, and how it fails. A process is not known by its requests alone: two that differ in no field are
// counted.
type Fault struct {
	Kind FailureKind

	Verb        string // as RBAC has it: create, update, patch, delete, get, list
	Group       string // of the resource; empty for Kubernetes' core
	Resource    string // plural
	Subresource string
	Namespace   string // empty: any, and none
	Name        string // of the object; PREFIX* matches each name that begins so; empty: any
	Skip        int    // how many such requests pass before the one that fails

	Status     int           // of Refused: 409, 429, 500, 504
	RetryAfter time.Duration // of Refused: whole seconds, as the answer's Retry-After
	Lasts      bool          // of Refused: each such request meets it, until [Failure.Release]
}

// reasons are those of the statuses with which an API server refuses a request that may be tried again.
var reasons = map[int]string{
	http.StatusConflict: "Conflict", http.StatusTooManyRequests: "TooManyRequests", http.StatusInternalServerError: "InternalError",
	http.StatusServiceUnavailable: "ServiceUnavailable", http.StatusGatewayTimeout: "Timeout",
}

// wire is the fault in the words of the protocol; ok is false if it is of no kind that there is.
func (f Fault) wire() (w protocol.Fault, ok bool) {
	w = protocol.Fault{Skip: f.Skip, Match: protocol.FaultMatch{Verb: f.Verb, Group: f.Group, Resource: f.Resource, Subresource: f.Subresource, Namespace: cmp.Or(f.Namespace, "*"), Name: cmp.Or(f.Name, "*")}}
	switch f.Kind {
	case Lost:
		w.Break = true
	case KilledAfter:
		w.Break, w.Shut = true, true
	case KilledBefore:
		w.Withhold, w.Break, w.Shut = true, true, true
	case Refused:
		w.Withhold = true
		w.Answer = &protocol.FaultAnswer{Status: f.Status, Reason: reasons[f.Status], RetryAfter: int(f.RetryAfter.Seconds())}
		w.Lasts = f.Lasts
	case Stale:
		w.Hold = true
	case Overtaken:
		w.Pause = true
	default:
		return w, false
	}
	return w, true
}

// A Failure is a [Fault] that a door is to commit, once.
type Failure struct {
	fault  Fault
	door   *Door
	struck chan struct{} // closed once it was committed; serial is set by then
	serial int64
}

// Fail has the door let a request fail.
func (d *Door) Fail(t testing.TB, f Fault) *Failure {
	t.Helper()
	wire, ok := f.wire()
	if !ok || f.Kind == Refused && reasons[f.Status] == "" {
		t.Fatalf("clustertest: a door cannot commit the fault %+v: its kind or its status is unknown", f)
	}
	failure := &Failure{fault: f, door: d, struck: make(chan struct{})}
	d.mu.Lock()
	d.faults++
	wire.Name = fmt.Sprintf("%s-%d", f.Kind, d.faults)
	d.failures[wire.Name] = failure
	d.mu.Unlock()
	if err := d.account.cluster.conn.Call(t.Context(), "armDoor", protocol.ArmDoor{Name: d.opened.Name, Faults: []protocol.Fault{wire}}, nil); err != nil {
		fatal(t, d.failed("armed", err))
	}
	return failure
}

// strikeTime bounds [Failure.Wait].
const strikeTime = time.Minute

// Wait waits until the request has come and has failed, a minute at most.
func (f *Failure) Wait(t testing.TB) {
	t.Helper()
	select {
	case <-f.struck:
	case <-f.door.account.cluster.conn.Ended():
		fatal(t, f.door.failed("used", protocol.ErrEnded))
	case <-t.Context().Done():
		t.Fatal("clustertest: the test ended before the request that was to fail had come")
	case <-time.After(strikeTime):
		t.Fatalf("clustertest: the request that was to fail has not come within %s: %+v", strikeTime, f.fault)
	}
}

// Release ends a failure that lasts, once it was committed: watches deliver what has happened meanwhile, a request goes
// on, and with [Fault.Lasts] the door forgets what it has not committed yet. Other failures do not last.
func (f *Failure) Release(t testing.TB) {
	t.Helper()
	f.Wait(t)
	var err error
	name, conn := f.door.opened.Name, f.door.account.cluster.conn
	switch f.fault.Kind {
	case Stale:
		err = conn.Call(t.Context(), "releaseWatches", protocol.WatchesOf{Name: name, Group: f.fault.Group, Resource: f.fault.Resource}, nil)
	case Refused:
		err = conn.Call(t.Context(), "disarmDoor", protocol.DisarmDoor{Name: name}, nil)
	case Overtaken:
		err = conn.Call(t.Context(), "resumeDoor", protocol.ResumeDoor{Name: name, Serial: f.serial}, nil)
	}
	if err != nil {
		fatal(t, f.door.failed("released", err))
	}
}

package frontdoor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/slipway-dev/slipway/cluster/objectmeta"
)

// A Fault is what an inspected door does to one request, once, or to all of a sort. Together the fields make what may
// befall a client of any API server: a process that dies, a connection that breaks, a server that refuses, a watch that
// lags.
type Fault struct {
	Name  string // by which a [Struck] names it
	Match Match
	Skip  int // of the requests that match, how many pass before it

	Lasts    bool    // all that match meet it, until [Door.Disarm]
	Withhold bool    // the server does not get the request
	Answer   *Answer // takes the place of the server's
	Break    bool    // the connection ends without an answer
	Shut     bool    // no request is let in after it, as if the process had died
	Pause    bool    // the request waits for [Door.Resume] before the server gets it
	Stall    bool    // the answer waits for [Door.Resume]
	Hold     bool    // watches of the resource deliver nothing from before the request until [Door.Release]
}

// An Answer is a refusal in the server's place.
type Answer struct {
	Status     int
	Reason     string // of the Status object, such as Conflict
	RetryAfter int    // in seconds; 0: the answer does not say
}

// Match says which requests are meant. Watches never are.
type Match struct {
	Verb, Group, Resource, Subresource, Namespace string

	Name string // also PREFIX*
}

// anyNamespace matches each namespace, and none.
const anyNamespace = "*"

// ErrFault says that there is no such fault.
var ErrFault = errors.New("no such fault")

func (f Fault) validate() error {
	switch {
	case f.Match.Verb == "" || f.Match.Resource == "":
		return fmt.Errorf("%w: it names no verb or no resource", ErrFault)
	case f.Match.Verb == "watch":
		return fmt.Errorf("%w: watches are held or cut", ErrFault)
	case f.Answer != nil && (f.Answer.Status < http.StatusBadRequest || f.Answer.Status > 599):
		return fmt.Errorf("%w: status %d is no failure", ErrFault, f.Answer.Status)
	case f.Pause && (f.Withhold || f.Stall):
		return fmt.Errorf("%w: a paused request goes on to the server, and waits once", ErrFault)
	case f.Withhold && f.Answer == nil && !f.Break, f.Answer != nil && !f.Withhold:
		return fmt.Errorf("%w: an answer of the door's takes the place of the server's", ErrFault)
	}
	return nil
}

func (m Match) covers(r Request) bool {
	if r.Verb != m.Verb || r.Group != m.Group || r.Resource != m.Resource || r.Subresource != m.Subresource || m.Namespace != anyNamespace && r.Namespace != m.Namespace || r.DryRun {
		return false
	}
	if prefix, any := strings.CutSuffix(m.Name, "*"); any {
		return strings.HasPrefix(r.Name, prefix)
	}
	return r.Name == m.Name
}

// An inspection is what an inspected door knows besides.
type inspection struct {
	mu      sync.Mutex
	faults  []*Fault
	shut    bool
	held    map[resource]bool
	streams map[*stream]struct{}
	stalled map[int64]chan struct{} // by the serial of a request

	active chan struct{} // closed once the door is no longer parked, or behind
	once   sync.Once
}

func newInspection(waits bool) *inspection {
	i := &inspection{held: map[resource]bool{}, streams: map[*stream]struct{}{}, stalled: map[int64]chan struct{}{}, active: make(chan struct{})}
	if !waits {
		i.activate()
	}
	return i
}

func (i *inspection) activate() { i.once.Do(func() { close(i.active) }) }

func (i *inspection) waits() bool {
	select {
	case <-i.active:
		return false
	default:
		return true
	}
}

func (d *Door) parked() bool { return d.options.Known != nil && d.inside.waits() }

// behind reports whether clients are shown the past of a resource.
func (d *Door) behind(group, name string) bool {
	of := d.options.PastOf
	return d.options.Past != 0 && d.inside.waits() && (of == nil || slices.Contains(of, group+"/"+name))
}

// strike returns the fault that a request meets, if any, and carries out what concerns other requests.
func (i *inspection) strike(r Request) (f *Fault, resume <-chan struct{}) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, armed := range i.faults {
		if !armed.Match.covers(r) {
			continue
		}
		if armed.Skip > 0 {
			armed.Skip--
			continue
		}
		if !armed.Lasts {
			i.faults = append(i.faults[:n:n], i.faults[n+1:]...)
		}
		i.shut = i.shut || armed.Shut
		if armed.Hold {
			i.held[resource{r.Group, r.Resource}] = true
		}
		if armed.Pause || armed.Stall {
			c := make(chan struct{})
			i.stalled[r.Serial] = c
			resume = c
		}
		return armed, resume
	}
	return nil, nil
}

// ErrInspect says that a door does not look into requests.
var ErrInspect = errors.New("the door is not an inspected one")

// Arm has the door commit faults, beside those that it has not committed yet.
func (d *Door) Arm(faults ...Fault) error {
	if d.inside == nil {
		return ErrInspect
	}
	for _, f := range faults {
		if err := f.validate(); err != nil {
			return err
		}
	}
	d.inside.mu.Lock()
	defer d.inside.mu.Unlock()
	for _, f := range faults {
		d.inside.faults = append(d.inside.faults, &f)
	}
	return nil
}

// Disarm forgets the faults that the door has not committed, and returns their number.
func (d *Door) Disarm() (left int, err error) {
	if d.inside == nil {
		return 0, ErrInspect
	}
	d.inside.mu.Lock()
	defer d.inside.mu.Unlock()
	left = len(d.inside.faults)
	d.inside.faults = nil
	return left, nil
}

// Activate lets a parked door's process see all that has changed since it came, and its requests in. That of a door
// that shows the past sees each change since then.
func (d *Door) Activate() error {
	if d.inside == nil {
		return ErrInspect
	}
	merged := d.parked()
	d.inside.activate()
	for _, s := range d.inside.open() {
		s.release(merged)
	}
	return nil
}

// Resume lets a request go that a fault has paused, or the answer of one that it has stalled.
func (d *Door) Resume(serial int64) error {
	if d.inside == nil {
		return ErrInspect
	}
	d.inside.mu.Lock()
	defer d.inside.mu.Unlock()
	c, ok := d.inside.stalled[serial]
	if !ok {
		return fmt.Errorf("%w: request %d does not wait", ErrFault, serial)
	}
	delete(d.inside.stalled, serial)
	close(c)
	return nil
}

// inspect takes a request through an inspected door.
func (d *Door) inspect(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	if info.Verb == "watch" && info.IsResourceRequest {
		d.watch(w, r, info)
		return
	}
	if info.IsResourceRequest && d.options.Known != nil && !d.inside.await(r) {
		panic(http.ErrAbortHandler)
	}
	p := d.begin(r, info)
	if info.Verb == "list" && info.IsResourceRequest && d.behind(info.APIGroup, info.Resource) {
		lookBack(r, d.options.Past)
	}
	d.reports.put(Begun{p.said})
	var f *Fault
	var resume <-chan struct{}
	if !p.long { // what lasts until one side ends it would never be answered
		f, resume = d.inside.strike(p.said)
	}
	if f == nil {
		if d.inside.isShut() {
			d.breakOff(p)
		}
		d.let(w, r, p)
		return
	}
	d.commit(w, r, p, f, resume)
}

// await returns once the door's process may ask for what is not part of the baseline; false if it has given up.
func (i *inspection) await(r *http.Request) bool {
	select {
	case <-i.active:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (i *inspection) isShut() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.shut
}

// breakOff ends a request without an answer.
func (d *Door) breakOff(p *passage) {
	p.report(0, objectmeta.Metadata{})
	panic(http.ErrAbortHandler)
}

// commit commits a fault.
func (d *Door) commit(w http.ResponseWriter, r *http.Request, p *passage, f *Fault, resume <-chan struct{}) {
	struck := Struck{Fault: f.Name, Serial: p.said.Serial}
	if f.Withhold {
		d.reports.put(struck)
		d.wait(r, resume)
		if f.Break {
			d.breakOff(p)
		}
		f.Answer.write(w)
		p.report(f.Answer.Status, objectmeta.Metadata{})
		return
	}
	if f.Pause {
		d.reports.put(struck)
		d.wait(r, resume)
		d.let(w, r, p)
		return
	}
	// What a client asked for is done to its end, whatever becomes of the client.
	kept := newKept()
	func() {
		defer func() { struck.Status = kept.status; d.reports.put(struck) }() // also if the handler breaks off
		d.let(kept, r.WithContext(context.WithoutCancel(r.Context())), p)
	}()
	d.wait(r, resume)
	if f.Break {
		panic(http.ErrAbortHandler)
	}
	kept.copyTo(w)
}

// wait waits until a request or an answer may go on.
func (d *Door) wait(r *http.Request, resume <-chan struct{}) {
	if resume == nil {
		return
	}
	select {
	case <-resume:
	case <-r.Context().Done():
	}
}

// lookBack has a list answered as of a revision, if its client takes any state.
func lookBack(r *http.Request, revision int64) {
	query := r.URL.Query()
	if query.Get("resourceVersion") != "0" || query.Has("continue") {
		return
	}
	query.Set("resourceVersion", strconv.FormatInt(revision, 10))
	query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
	r.URL.RawQuery = query.Encode()
}

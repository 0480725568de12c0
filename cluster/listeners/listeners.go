// Package listeners keeps what this machine listens to in step with the objects of a cluster.
//
//	changes, err := listeners.Watch(services, slices) // informers that have not been started
//	set := listeners.NewSet(open, failed)
//	defer set.Keep(ctx, nil)
//	changes.Run(ctx, func() bool { return set.Keep(ctx, wanted()) })
//
// A listener that cannot be had is tried again every second, until it is there or not wanted any more.
package listeners

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// retry is how long it takes until a listener is tried again that could not be had.
const retry = time.Second

// Changes are those of the objects that informers follow.
type Changes struct {
	changed chan struct{}
	synced  []cache.InformerSynced
}

// Watch returns the changes of what informers follow, which have not been started yet.
func Watch(informers ...cache.SharedIndexInformer) (*Changes, error) {
	c := &Changes{changed: make(chan struct{}, 1)}
	for _, informer := range informers {
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { c.notice() }, UpdateFunc: func(any, any) { c.notice() }, DeleteFunc: func(any) { c.notice() },
		})
		if err != nil {
			return nil, fmt.Errorf("follow what to listen for: %w", err)
		}
		c.synced = append(c.synced, registration.HasSynced)
	}
	return c, nil
}

func (c *Changes) notice() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Run calls follow once all objects are known, after each change, and again soon for as long as it is not done. It
// returns when ctx ends.
func (c *Changes) Run(ctx context.Context, follow func() (done bool)) {
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return
	}
	for ctx.Err() == nil {
		var again <-chan time.Time
		if !follow() {
			again = time.After(retry)
		}
		select {
		case <-c.changed:
		case <-again:
		case <-ctx.Done():
		}
	}
}

// Open begins to listen at a place for a purpose, until the function that it returns is called.
type Open[Place, Purpose comparable] func(context.Context, Place, Purpose) (closeIt func(), err error)

// Set is what is listened to: places, each with its purpose. One goroutine calls Keep.
type Set[Place, Purpose comparable] struct {
	begin  Open[Place, Purpose]
	failed func(Place, Purpose, error)

	mu   sync.Mutex
	open map[Place]opened[Purpose]
	shut map[Place]failure[Purpose]
}

type opened[Purpose any] struct {
	purpose Purpose
	closeIt func()
}

type failure[Purpose any] struct {
	purpose Purpose
	err     error
}

// NewSet returns an empty set. It calls failed when a place cannot be listened to, once until that is over.
func NewSet[Place, Purpose comparable](open Open[Place, Purpose], failed func(Place, Purpose, error)) *Set[Place, Purpose] {
	return &Set[Place, Purpose]{begin: open, failed: failed, open: map[Place]opened[Purpose]{}, shut: map[Place]failure[Purpose]{}}
}

// Keep opens and closes listeners until they are those wanted, and reports whether all could be had.
func (s *Set[Place, Purpose]) Keep(ctx context.Context, wanted map[Place]Purpose) (all bool) {
	s.closeBut(wanted)
	all = true
	for at, purpose := range wanted {
		if _, ok := s.open[at]; ok {
			continue
		}
		if ctx.Err() != nil {
			return false
		}
		closeIt, err := s.begin(ctx, at, purpose)
		if err == nil {
			s.opened(at, opened[Purpose]{purpose, closeIt})
			continue
		}
		all = false
		if s.notOpened(at, failure[Purpose]{purpose, err}) {
			s.failed(at, purpose, err)
		}
	}
	return all
}

// closeBut closes the listeners that are not wanted for their purposes any more, and forgets the failures.
func (s *Set[Place, Purpose]) closeBut(wanted map[Place]Purpose) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, o := range s.open {
		if purpose, ok := wanted[at]; !ok || purpose != o.purpose {
			o.closeIt()
			delete(s.open, at)
		}
	}
	for at, f := range s.shut {
		if purpose, ok := wanted[at]; !ok || purpose != f.purpose {
			delete(s.shut, at)
		}
	}
}

func (s *Set[Place, Purpose]) opened(at Place, o opened[Purpose]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shut, at)
	s.open[at] = o
}

// notOpened notes a failure, and reports whether it is the first.
func (s *Set[Place, Purpose]) notOpened(at Place, f failure[Purpose]) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.shut[at]
	s.shut[at] = f
	return !known
}

// Len returns how many places are listened to.
func (s *Set[Place, Purpose]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// At returns the purpose for which a place is wanted, and why it is not listened to. Wanted is false for a place that
// is not.
func (s *Set[Place, Purpose]) At(at Place) (purpose Purpose, wanted bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.open[at]; ok {
		return o.purpose, true, nil
	}
	f, ok := s.shut[at]
	return f.purpose, ok, f.err
}

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// logicalPrefix is where the keys of logical clusters lie, below their names.
const logicalPrefix = "/logical"

var (
	// ErrUnknown says that there is no logical cluster of that name.
	ErrUnknown = errors.New("no such logical cluster")
	// ErrExists says that there is one already, or that it is still being removed.
	ErrExists = errors.New("a logical cluster of that name exists")
	// ErrName says that no logical cluster can have that name.
	ErrName = errors.New("a logical cluster's name must be a DNS label")
	// ErrStopped says that the host is stopping.
	ErrStopped = errors.New("the cluster is stopping")
)

// logical is a logical cluster in its life.
type logical struct {
	*Cluster
	ready bool // neither being started nor being removed
}

// Add starts a logical cluster and returns when it is of use.
func (h *Host) Add(ctx context.Context, spec Spec) (*Cluster, error) {
	l, err := h.enter(spec)
	if err != nil {
		return nil, err
	}
	if err := l.begin(ctx, h); err != nil {
		return nil, errors.Join(err, h.discard(l))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	l.ready = true
	return l.Cluster, nil
}

// enter takes the name.
func (h *Host) enter(spec Spec) (*logical, error) {
	if problems := validation.IsDNS1123Label(spec.Name); len(problems) > 0 {
		return nil, fmt.Errorf("%w: %q: %s", ErrName, spec.Name, problems[0])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, ErrStopped
	case h.logical[spec.Name] != nil:
		return nil, fmt.Errorf("%w: %s", ErrExists, spec.Name)
	}
	l := &logical{Cluster: h.newCluster(spec, filepath.Join(h.logicalDir(), spec.Name), logicalPrefix+"/"+spec.Name)}
	l.fail = func(err error) { h.fail(inLogical(spec.Name, err)) }
	h.logical[spec.Name] = l
	return l, nil
}

// inLogical says in which cluster a component failed.
func inLogical(name string, err error) error {
	if e, ok := errors.AsType[*protocol.ComponentError](err); ok {
		return &protocol.ComponentError{Component: e.Component, Err: fmt.Errorf("logical cluster %s: %w", name, e.Err)}
	}
	return err
}

func (l *logical) begin(ctx context.Context, h *Host) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of logical cluster %s: %w", l.Name(), err)
	}
	return inLogical(l.Name(), l.startWhile(ctx, func(ctx context.Context, to *coming) error {
		err := l.fill(ctx, h.store)
		if err == nil {
			l.record(false)
			to.come(h.store)
		}
		return err
	}))
}

// Remove stops a logical cluster and removes all that it left.
func (h *Host) Remove(name string) error {
	return h.remove(name, func(*logical) bool { return true })
}

// RemoveThis does so with one that [Host.Add] has returned, unless that has been removed already: another one may have
// its name by now.
func (h *Host) RemoveThis(c *Cluster) error {
	return h.remove(c.Name(), func(l *logical) bool { return l.Cluster == c })
}

func (h *Host) remove(name string, meant func(*logical) bool) error {
	h.mu.Lock()
	l := h.logical[name]
	if l == nil || !l.ready || !meant(l) {
		defer h.mu.Unlock()
		return h.unknown(name)
	}
	l.ready = false
	h.mu.Unlock()
	return h.discard(l)
}

// cleanUp bounds the removal of a logical cluster's keys.
const cleanUp = 10 * time.Second

// discard ends a cluster and frees its name.
func (h *Host) discard(l *logical) error {
	l.end()
	ctx, cancel := context.WithTimeout(context.Background(), cleanUp)
	defer cancel()
	err := errors.Join(h.store.Delete(ctx, l.prefix+"/"), os.RemoveAll(l.dir))
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.logical, l.Name())
	return err
}

// Cluster returns the logical cluster of that name, or the main one if name is empty.
func (h *Host) Cluster(name string) (*Cluster, error) {
	if name == "" {
		return h.main, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.logical[name]; l != nil && l.ready {
		return l.Cluster, nil
	}
	return nil, h.unknown(name)
}

// Logical lists the logical clusters that are ready, by name.
func (h *Host) Logical() []*Cluster {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*Cluster
	for _, l := range h.logical {
		if l.ready {
			list = append(list, l.Cluster)
		}
	}
	slices.SortFunc(list, func(a, b *Cluster) int { return cmp.Compare(a.Name(), b.Name()) })
	return list
}

// unknown needs h.mu.
func (h *Host) unknown(name string) error {
	names := slices.Sorted(maps.Keys(h.logical))
	if len(names) == 0 {
		return fmt.Errorf("%w: %q; there are none", ErrUnknown, name)
	}
	return fmt.Errorf("%w: %q; there are: %s", ErrUnknown, name, strings.Join(names, ", "))
}

func (h *Host) logicalDir() string { return filepath.Join(h.options.Dir, "logical") }

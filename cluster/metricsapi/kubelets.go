package metricsapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// fresh is how long a reading of a kubelet answers all clients.
	fresh = time.Second
	// shortest is the least time between two readings that a rate is computed from.
	shortest = time.Second
	// smooth is the time that a rate is computed from where a client keeps asking.
	smooth = 4 * time.Second
	// keep is how long a reading counts as an earlier one. It is about the resolution of metrics-server.
	keep = 30 * time.Second
	// answerLimit bounds the wait for a kubelet.
	answerLimit = 5 * time.Second
	// maxAnswer is the size of the largest answer of a kubelet, in bytes: the figures of ten thousand containers.
	maxAnswer = 16 << 20
)

// kubelets reads the kubelets of real nodes when a client asks for figures, and at no other time. The rate of CPU needs
// two readings: if there is no earlier one, the client waits a second for the next one.
type kubelets struct {
	read func(ctx context.Context, node string) (io.ReadCloser, error)

	mu     sync.Mutex
	byName map[string]*kubelet
}

// kubelet is one of them.
type kubelet struct {
	turn    chan struct{} // holds one token while a client reads
	history history
}

func newKubelets(read func(context.Context, string) (io.ReadCloser, error)) *kubelets {
	return &kubelets{read: read, byName: map[string]*kubelet{}}
}

// reader asks kubelets by way of the API server, which has the connection, the certificates and the right.
func reader(config *clientrest.Config) (func(context.Context, string) (io.ReadCloser, error), error) {
	c := clientrest.CopyConfig(config)
	c.QPS, c.Burst, c.UserAgent = -1, 0, "slipway-metrics"
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := clientrest.UnversionedRESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("make a client of kubelets: %w", err)
	}
	return func(ctx context.Context, node string) (io.ReadCloser, error) {
		return client.Get().AbsPath("/api/v1/nodes", node, "proxy/metrics/resource").MaxRetries(0).Stream(ctx)
	}, nil
}

// history is what is known of a node now; nothing if its kubelet does not answer.
func (k *kubelets) history(ctx context.Context, node string) history {
	one := k.of(node)
	select {
	case one.turn <- struct{}{}:
		defer func() { <-one.turn }()
	case <-ctx.Done():
		return nil
	}
	switch err := k.update(ctx, node, one); {
	case err == nil:
		return one.history
	case ctx.Err() == nil: // else the client has left
		klog.FromContext(ctx).Error(err, "A node was not measured", "node", node)
	}
	return nil
}

func (k *kubelets) of(node string) *kubelet {
	k.mu.Lock()
	defer k.mu.Unlock()
	one, ok := k.byName[node]
	if !ok {
		one = &kubelet{turn: make(chan struct{}, 1)}
		k.byName[node] = one
	}
	return one
}

// update takes a reading unless there is a fresh one, and a second one if there is none to compare it with.
func (k *kubelets) update(ctx context.Context, node string, one *kubelet) error {
	if last, ok := one.history.last(); ok && time.Since(last.at) < fresh && one.history.tellsRate() {
		return nil
	}
	if err := k.take(ctx, node, one); err != nil || one.history.tellsRate() {
		return err
	}
	timer := time.NewTimer(shortest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return k.take(ctx, node, one)
}

// take adds a reading, and forgets those that are too old. The history that others have stays as it is.
func (k *kubelets) take(ctx context.Context, node string, one *kubelet) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	answer, err := k.read(ctx, node)
	if err != nil {
		return fmt.Errorf("ask the kubelet: %w", err)
	}
	limited := &io.LimitedReader{R: answer, N: maxAnswer}
	r, err := parse(limited)
	if limited.N == 0 {
		err = fmt.Errorf("more than %d bytes", maxAnswer)
	}
	if err = errors.Join(err, answer.Close()); err != nil {
		return fmt.Errorf("read what the kubelet answers: %w", err)
	}
	r.at = time.Now()
	one.history = one.history.with(r)
	return nil
}

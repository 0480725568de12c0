package cli_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// callers are those who call webhooks all the time, by scripts.
type callers struct {
	mu  sync.Mutex
	all map[*testscript.TestScript]*caller
}

// caller asks for an object again and again, which the cluster does not keep.
type caller struct {
	stop  context.CancelFunc
	ended chan struct{}

	mu      sync.Mutex
	calls   int
	failed  []error
	longest time.Duration
}

// command is the script command `calls`:
//
//	calls start RESOURCE.VERSION.GROUP FILE   begins to create the object in a file as a dry run, every 20 ms
//	calls stop N                              ends; at least N were made, and none has failed
func (c *callers) command(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: calls start RESOURCE.VERSION.GROUP FILE | calls stop N")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if args[0] == "start" {
		if c.all == nil {
			c.all = map[*testscript.TestScript]*caller{}
		}
		c.all[ts] = startCaller(ts, args[1], args[2])
		return
	}
	call := c.all[ts]
	call.end()
	if len(call.failed) > 0 {
		ts.Fatalf("%d of %d calls failed, such as: %v", len(call.failed), call.calls, call.failed[0])
	}
	if want := atoi(ts, args[1]); call.calls < want {
		ts.Fatalf("only %d calls, want %d", call.calls, want)
	}
	ts.Logf("%d calls, the longest took %v", call.calls, call.longest)
}

// between is the time from call to call.
const between = 20 * time.Millisecond

// atOnce is how many calls may wait for their answers: a cluster refuses too many.
const atOnce = 100

func startCaller(ts *testscript.TestScript, resource, file string) *caller {
	config, err := clientcmd.BuildConfigFromFlags("", ts.Getenv("KUBECONFIG"))
	ts.Check(err)
	config.QPS = -1 // no limit
	client, err := dynamic.NewForConfig(config)
	ts.Check(err)
	object := &unstructured.Unstructured{}
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(file)), &object.Object))
	kind, _ := schema.ParseResourceArg(resource)
	if kind == nil {
		ts.Fatalf("no resource: %s", resource)
	}
	objects := client.Resource(*kind).Namespace(object.GetNamespace())
	ctx, cancel := context.WithCancel(ts.Value(scriptT{}).(testing.TB).Context())
	c := &caller{stop: cancel, ended: make(chan struct{})}
	ts.Defer(c.end)
	go func() {
		defer close(c.ended)
		c.run(ctx, func() error {
			_, err := objects.Create(context.WithoutCancel(ctx), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		})
	}()
	return c
}

// run calls until ctx ends, and waits for all answers.
func (c *caller) run(ctx context.Context, call func() error) {
	var answers sync.WaitGroup
	defer answers.Wait()
	free := make(chan struct{}, atOnce)
	ticker := time.NewTicker(between)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		free <- struct{}{}
		answers.Go(func() {
			begin := time.Now()
			c.note(call(), time.Since(begin))
			<-free
		})
	}
}

func (c *caller) note(err error, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.longest = max(c.longest, took)
	if err != nil {
		c.failed = append(c.failed, fmt.Errorf("after %v: %w", took, err))
	}
}

// end ends the calls.
func (c *caller) end() {
	c.stop()
	<-c.ended
}

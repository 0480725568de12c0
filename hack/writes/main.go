// Command writes runs a command while it writes CronJobs of examples/cronjob, a request every 20 milliseconds, to the
// cluster of the current context. The operator's webhooks are part of each: objects are created as v1, changed as v2
// and deleted, and bad ones must be refused. It fails if the API server answers anything else, or the command fails.
// Tests of rollouts run it.
//
//	writes slipway deploy --image cronjob:v2
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "writes:", err)
		os.Exit(1)
	}
}

// shown is how many failures are printed.
const shown = 10

// run writes until the command has ended.
func run(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return errors.New("usage: writes COMMAND [ARGS]")
	}
	w, err := newWriter()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	go func() {
		defer stop()
		program := exec.CommandContext(ctx, command[0], command[1:]...)
		program.Stdout, program.Stderr = os.Stdout, os.Stderr
		failed = program.Run()
	}()
	w.write(ctx)
	if failed != nil {
		w.failures = slices.Insert(w.failures, 0, fmt.Errorf("%s: %w", command[0], failed))
	}
	fmt.Printf("%d requests, %d failures\n", w.requests, len(w.failures))
	return errors.Join(w.failures[:min(len(w.failures), shown)]...)
}

// newWriter connects to the cluster.
func newWriter() (*writer, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.Timeout = 30 * time.Second
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &writer{
		v1: client.Resource(cronJobs("v1")).Namespace("default"),
		v2: client.Resource(cronJobs("v2")).Namespace("default"),
	}, nil
}

// Command writes runs a command while it writes objects to the cluster of the current context, a request every 20
// milliseconds, and fails if the API server refuses one, or the command fails. Tests of rollouts run it.
//
// Without a flag it writes CronJobs of examples/cronjob, and the operator's webhooks are part of each request: objects
// are created as v1, changed as v2 and deleted, and bad ones must be refused. With -object it creates, changes, reads
// and deletes copies of the object in a file, in the version that the file has.
//
//	writes slipway deploy --image cronjob:v2
//	writes -object frigate.yaml slipway deploy --image op:v2
package main

import (
	"context"
	"errors"
	"flag"
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
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("writes", flag.ContinueOnError)
	file := flags.String("object", "", "a file with the object to write copies of")
	if err := flags.Parse(args); err != nil {
		return err
	}
	command := flags.Args()
	if len(command) == 0 {
		return errors.New("usage: writes [-object FILE] COMMAND [ARGS]")
	}
	w, err := newWriter(*file)
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

// newWriter connects to the cluster. The file may be empty.
func newWriter(file string) (*writer, error) {
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
	if file == "" {
		return &writer{steps: newCronJobs(client).steps()}, nil
	}
	copies, err := newCopies(config, client, file)
	if err != nil {
		return nil, err
	}
	return &writer{steps: copies.steps()}, nil
}

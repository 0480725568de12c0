// Package multicall decides what the one program does: it is `slipway-cluster` with
// its verbs, and under the names `etcd`, `kube-apiserver` and `kubectl`, to which a
// link suffices, it is those, or in kubectl's case starts the one beside it.
package multicall

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/serve"
	"github.com/slipway-dev/slipway/cluster/stock"
	"github.com/slipway-dev/slipway/cluster/version"
)

// Env is what a program gets from its operating system.
type Env struct {
	Args    []string // with the program's name first
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Started time.Time
	Exit    func(status int) // ends the process at once
}

// Exit statuses besides those of the stock programs.
const (
	statusOK     = 0
	statusFailed = 1
	statusUsage  = 2
)

// A verb runs with the arguments behind its name and returns the exit status.
type verb struct {
	name, usage, doc string // an empty doc hides the verb
	run              func(ctx context.Context, env Env, args []string) int
}

func verbs() []verb {
	return []verb{
		{"serve", "serve --config FILE [--stdio]", "run a cluster (docs/inside/protocol.md)", runServe},
		{"version", "version", "print the versions as JSON", runVersion},
		{"kubectl", "kubectl …", "run slipway-kubectl, which is beside this program", runKubectl},
		{"seed", "seed --output FILE", "", runSeed},
	}
}

// Run does what the program's name and arguments say and returns the exit status.
func Run(ctx context.Context, env Env) int {
	if err := version.Stamp(); err != nil {
		return complain(env, statusFailed, err)
	}
	if stock, ok := stock.Lookup(env.Args[0]); ok {
		return stock(env.Args)
	}
	if len(env.Args) < 2 {
		usage(env.Stderr)
		return statusUsage
	}
	for _, v := range verbs() {
		if v.name == env.Args[1] {
			return v.run(ctx, env, env.Args[2:])
		}
	}
	if name := env.Args[1]; name == "help" || name == "-h" || name == "--help" {
		usage(env.Stdout)
		return statusOK
	}
	fmt.Fprintf(env.Stderr, "slipway-cluster: unknown command %q\n", env.Args[1])
	usage(env.Stderr)
	return statusUsage
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage:")
	for _, v := range verbs() {
		if v.doc != "" {
			fmt.Fprintf(w, "  slipway-cluster %-30s %s\n", v.usage, v.doc)
		}
	}
}

func complain(env Env, status int, err error) int {
	fmt.Fprintf(env.Stderr, "slipway-cluster: %v\n", err)
	return status
}

// parse reads a verb's flags; flags says which there are. The status counts if
// done is true.
func parse(env Env, name string, args []string, flags func(*flag.FlagSet)) (status int, done bool) {
	set := flag.NewFlagSet("slipway-cluster "+name, flag.ContinueOnError)
	set.SetOutput(env.Stderr)
	flags(set)
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return statusOK, true
	case err != nil:
		return statusUsage, true // the flag package has told it
	case set.NArg() > 0:
		return complain(env, statusUsage, fmt.Errorf("%s takes no arguments, got %q", name, set.Args())), true
	}
	return statusOK, false
}

func runServe(ctx context.Context, env Env, args []string) int {
	o := serve.Options{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Started: env.Started, Exit: env.Exit}
	if status, done := parse(env, "serve", args, func(f *flag.FlagSet) {
		f.StringVar(&o.ConfigFile, "config", "", "the configuration, a JSON `file`")
		f.BoolVar(&o.Stdio, "stdio", false, "use stdin and stdout for the protocol, and stop when stdin ends")
	}); done {
		return status
	}
	if o.ConfigFile == "" {
		return complain(env, statusUsage, errors.New("serve needs --config FILE"))
	}
	return serve.Run(untilSignal(ctx), o)
}

// untilSignal ends with the first signal that asks the program to stop; a second
// one ends the process at once. The stock programs handle signals themselves.
func untilSignal(ctx context.Context) context.Context {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

func runKubectl(_ context.Context, _ Env, args []string) int {
	return stock.Kubectl(append([]string{"kubectl"}, args...))
}

func runVersion(_ context.Context, env Env, args []string) int {
	if status, done := parse(env, "version", args, func(*flag.FlagSet) {}); done {
		return status
	}
	if err := json.NewEncoder(env.Stdout).Encode(struct {
		Protocol   int    `json:"protocol"`
		Version    string `json:"version"`
		Kubernetes string `json:"kubernetes"`
	}{protocol.Number, version.Program(), version.Kubernetes}); err != nil {
		return complain(env, statusFailed, err)
	}
	return statusOK
}

package dev

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev/webhookproxy"
	"github.com/slipway-dev/slipway/internal/ship"
)

// Beside is a compiled manager of which several run at a time, in clusters of their own.
type Beside struct {
	path      string
	arguments []string
	start     codebase.Start
	hooks     *projectWebhooks // nil: it serves none
	hosted    bool             // it has a flag for the address at which it serves them
	moved     bool             // and for the port; else it goes by portVariable
}

// portVariable names the port of webhooks to managers that have no flag for it.
const portVariable = "WEBHOOK_PORT_OF_SLIPWAY"

// besideSource is a file of the manager's package that reads it.
const besideSource = `package main

import (
	slipwayOS "os"
	slipwayStrconv "strconv"

	slipwayWebhook "` + serverPackage + `"
)

func init() {
	if port, err := slipwayStrconv.Atoi(slipwayOS.Getenv("` + portVariable + `")); err == nil {
		slipwayWebhook.DefaultPort = port
	}
}
`

// besides are flags of managers, of kubebuilder's scaffolds and others, with the values by which nothing is in the way
// of another manager: no ports, and no wait for a lease.
var besides = []struct{ flag, value string }{
	{"metrics-bind-address", "0"}, {"metrics-addr", "0"}, {probeFlag, "0"}, {"probe-addr", "0"}, {"leader-elect", "false"}, {"enable-leader-election", "false"},
}

// BuildBeside compiles the manager of a package to a file, which may be outside of the project.
func BuildBeside(ctx context.Context, o Options, pkg, file string) (b *Beside, err error) {
	b = &Beside{path: file}
	code := o.Code()
	if b.hooks, err = o.webhooks(code, listening{}); err != nil {
		return nil, err
	}
	var moved move
	if b.hooks != nil && o.movable(ctx, pkg) {
		if err := moved.write(o, filepath.Join(o.Dir, filepath.FromSlash(pkg)), []byte(besideSource)); err != nil {
			return nil, errors.Join(err, moved.done())
		}
		defer func() { _ = moved.done() }() // what stays is swept away by a later command
	}
	cmd := o.goCommand(slices.Concat([]string{"build"}, moved.arguments(), o.buildArguments(file, pkg))...)
	cmd.Stdout = o.Stderr // the compiler's messages, as it gives them
	err = cmd.Run(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := unbuilt(err); err != nil {
		return nil, err
	}
	return b, b.readFlags(code)
}

// readFlags finds out how the manager is started.
func (b *Beside) readFlags(code *codebase.Codebase) error {
	manager, err := managerOf(code)
	if err != nil {
		return err
	}
	start, err := code.Start(manager)
	if err != nil {
		return err
	}
	sought := []string{webhookHostFlag, webhookPortFlag}
	for _, f := range besides {
		sought = append(sought, f.flag)
	}
	program, err := readTexts(b.path, sought)
	if err != nil {
		return err
	}
	has := func(flag string) bool {
		known, err := code.HasFlag(flag)
		return err == nil && known && program[flag]
	}
	args := started(start, nil)
	first := words(args)
	flags, rest := slices.Clone(args[:first]), args[first:]
	for _, f := range besides {
		if !has(f.flag) {
			continue
		}
		flags = append(flags, "--"+f.flag+"="+f.value)
		if f.value == "false" {
			rest = slices.DeleteFunc(slices.Clone(rest), func(arg string) bool { return isFlag(arg, f.flag) })
		} else {
			rest = without(rest, f.flag)
		}
	}
	b.hosted, b.moved = has(webhookHostFlag), has(webhookPortFlag)
	b.start = start
	b.arguments = slices.Concat(flags, without(without(rest, webhookHostFlag), webhookPortFlag))
	return nil
}

// Start is how the manager is started where the cluster calls none of its webhooks; served reports whether it serves
// some.
func (b *Beside) Start(namespace string) (arguments, environment []string, served bool) {
	return b.arguments, b.start.In(namespace), b.hooks != nil
}

// Confines is the namespace in which the managers of a ServiceAccount work only, by the variable that Operator SDK and
// kubebuilder have for that; empty: they work in all. Of several it is the first one.
func (b *Beside) Confines(namespace string) (confines string) {
	for _, pair := range b.start.In(namespace) {
		if value, is := strings.CutPrefix(pair, "WATCH_NAMESPACE="); is {
			confines, _, _ = strings.Cut(value, ",")
		}
	}
	return confines
}

// Front stands before the managers of one cluster: it serves their webhooks, whichever of them works.
type Front struct {
	beside    *Beside
	namespace string    // of the managers' ServiceAccount; empty: they have the user's rights
	webhooks  *webhooks // nil: there are none
	address   string    // of the manager whose webhooks are called
}

// Serve has a cluster of slipway's own call the webhooks of managers, whose ServiceAccount is in a namespace. Folder is
// for the certificate.
func (b *Beside) Serve(ctx context.Context, cluster *ship.Cluster, namespace, folder string) (*Front, error) {
	f := &Front{beside: b, namespace: namespace}
	if b.hooks == nil {
		return f, nil
	}
	w := &webhooks{cluster: cluster, own: true, l: listening{host: Loopback}}
	w.scratch.Path = folder
	if err := os.MkdirAll(w.certificates(), 0o700); err != nil {
		return nil, err
	}
	var err error
	if w.authority, err = webhookproxy.WriteCertificate(w.certificates(), Loopback); err != nil {
		return nil, err
	}
	if err := w.listen(ctx, w.l); err != nil {
		return nil, err
	}
	f.webhooks = w
	hooks := *b.hooks
	hooks.Authority, hooks.Address = w.authority, w.proxy.Address()
	detour, err := cluster.PlanDetour(ctx, hooks.LocalWebhooks)
	if err == nil {
		err = cluster.CallHere(ctx, detour)
	}
	return f, err
}

// A Seat is how one manager is started.
type Seat struct {
	Command     []string
	Environment []string // of the project, unless the user sets others
	Webhooks    []string // more variables, by which its webhooks are found
	address     string
}

// Seat returns how the next manager is started.
func (f *Front) Seat() (s Seat, err error) {
	b := f.beside
	s.Command, s.Environment = append([]string{b.path}, b.arguments...), slices.Clone(b.start.In(f.namespace))
	if f.webhooks == nil {
		return s, nil
	}
	if s.address, err = freeAddress(); err != nil {
		return s, err
	}
	_, port, _ := net.SplitHostPort(s.address)
	s.Webhooks = slices.Concat(f.webhooks.environment(), []string{portVariable + "=" + port})
	first := 1 + words(b.arguments)
	var flags []string
	if b.hosted {
		flags = append(flags, "--"+webhookHostFlag+"="+Loopback)
	}
	if b.moved {
		flags = append(flags, "--"+webhookPortFlag+"="+port)
	}
	s.Command = slices.Insert(s.Command, first, flags...)
	return s, nil
}

// Turn has the cluster call the webhooks of a manager.
func (f *Front) Turn(s Seat) {
	if f.webhooks != nil {
		f.address = s.address
		f.webhooks.forward(s.address)
	}
}

// Serves reports whether the managers serve webhooks.
func (f *Front) Serves() bool { return f.webhooks != nil }

// Interrupt has the webhooks refuse all calls, or no longer, and returns how many they have refused.
func (f *Front) Interrupt(down bool) (refused int) {
	if down {
		f.webhooks.proxy.Refuse("the manager's webhooks are not reachable")
	} else {
		f.webhooks.forward(f.address)
	}
	return f.webhooks.proxy.Refused()
}

// Close ends the front. What it has changed in the cluster stays.
func (f *Front) Close() error {
	if f.webhooks == nil || f.webhooks.proxy == nil {
		return nil
	}
	return f.webhooks.proxy.Close()
}

// freeAddress is one of loopback that nothing listens at.
func freeAddress() (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", net.JoinHostPort(Loopback, "0"))
	if err != nil {
		return "", fmt.Errorf("find a port for the manager's webhooks: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

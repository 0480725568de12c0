package dev

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/atomicfile"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scratch"
	"github.com/slipway-dev/slipway/internal/ship"
)

// as is the environment by which a child is a ServiceAccount of the cluster, NAME or NAMESPACE/NAME: that of a
// kubeconfig whose token is renewed until end is called. It is empty without an account.
func (o Options) as(ctx context.Context, cluster *ship.Cluster) (environment []string, end func(), err error) {
	if o.Account == "" {
		return nil, func() {}, nil
	}
	folder, err := scratch.New("slipway-account-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = folder.Remove() } // the next command removes what stays
	environment, stop, err := o.accountIn(ctx, cluster, folder.Path)
	if err != nil {
		remove()
		return nil, nil, err
	}
	o.Handler.Handle(report.Note{Text: "the program has the permissions of ServiceAccount " + o.Account + " in the cluster, and no others"})
	return environment, func() { stop(); remove() }, nil
}

// accountIn writes kubeconfig and token into a folder, and renews the token.
func (o Options) accountIn(ctx context.Context, cluster *ship.Cluster, folder string) (environment []string, stop func(), err error) {
	namespace, name, found := strings.Cut(o.Account, "/")
	if !found {
		namespace, name = "", o.Account
	}
	file, kubeconfig := filepath.Join(folder, "token"), filepath.Join(folder, "kubeconfig")
	renew := func(ctx context.Context) (time.Time, error) {
		token, expires, err := cluster.Token(ctx, namespace, name)
		if err != nil {
			return expires, err
		}
		return expires, atomicfile.WriteSecret(file, []byte(token))
	}
	expires, err := renew(ctx)
	if err != nil {
		return nil, nil, err
	}
	text, err := cluster.KubeconfigWith(file)
	if err != nil {
		return nil, nil, err
	}
	if err := atomicfile.WriteSecret(kubeconfig, text); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.keep(ctx, expires, renew)
	}()
	return []string{"KUBECONFIG=" + kubeconfig}, func() { cancel(); <-ended }, nil
}

// keep renews a token each time that half of its life is over.
func (o Options) keep(ctx context.Context, expires time.Time, renew func(context.Context) (time.Time, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(time.Minute, time.Until(expires)/2)):
		}
		until, err := renew(ctx)
		if err == nil {
			expires = until
		} else if ctx.Err() == nil {
			o.Handler.Handle(report.Warning{Text: "the token of ServiceAccount " + o.Account + " is not renewed: " + err.Error()})
		}
	}
}

// RunProgram runs a program that is no Go project's manager, such as an operator in another language, until it ends or
// ctx does. The cluster is that of o.Env; with o.Account the program is that ServiceAccount there.
func RunProgram(ctx context.Context, o Options, program string, args []string) error {
	cluster, err := ship.Connect(kubeconfig(o.Env, nil), o.Handler)
	if err != nil {
		return err
	}
	if err := cluster.Ping(ctx); err != nil {
		return err
	}
	environment, end, err := o.as(ctx, cluster)
	if err != nil {
		return err
	}
	defer end()
	o.Env = append(o.Env, environment...)
	o.Handler.Handle(report.Note{Text: "running " + program + " against " + cluster.Server() + " until Ctrl-C"})
	return ended("the program failed", o.run(ctx, program, args...))
}

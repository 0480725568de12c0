package dev

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// as is the environment by which a child is a ServiceAccount of the cluster, NAME or NAMESPACE/NAME: that of a
// kubeconfig whose token is renewed until end is called. It is empty without an account.
func (o Options) as(ctx context.Context, cluster *ship.Cluster) (environment []string, end func(), err error) {
	if o.Account == "" {
		return nil, func() {}, nil
	}
	folder, err := userdirs.NewScratch("slipway-account-")
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
		return expires, safefs.WriteSecret(file, []byte(token))
	}
	expires, err := renew(ctx)
	if err != nil {
		return nil, nil, err
	}
	text, err := cluster.KubeconfigWith(file)
	if err != nil {
		return nil, nil, err
	}
	if err := safefs.WriteSecret(kubeconfig, text); err != nil {
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

// requireAccount refuses a command that names a kubeconfig, by which the program would be another user than the
// account.
func (o Options) requireAccount(command []string) error {
	at := slices.IndexFunc(command, func(word string) bool { return isFlag(word, "kubeconfig") || strings.HasPrefix(word, "KUBECONFIG=") })
	if o.Account == "" || at < 0 {
		return nil
	}
	end := at + 1
	if !strings.Contains(command[at], "=") && end < len(command) {
		end++
	}
	return &report.Error{
		What: "the program's own kubeconfig would be used in place of that of ServiceAccount " + o.Account, Where: command[at], Code: report.UsageCode,
		Hint: "leave it out, or leave out --service-account; --kubeconfig before -- names the cluster",
		Next: o.again(slices.Concat(command[:at], command[end:])),
	}
}

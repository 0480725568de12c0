package apiserver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/kubeapiserver/authorizer/modes"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// FlagError says that the server's flags, most likely the user's own, do not work.
type FlagError struct{ Err error }

// Error says what is wrong with which flag.
func (e *FlagError) Error() string { return "API server flags: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FlagError) Unwrap() error { return e.Err }

// healthOnly lets anonymous requests reach the health endpoints and nothing else.
const healthOnly = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous:
  enabled: true
  conditions:
  - path: /livez
  - path: /readyz
  - path: /healthz
`

func parseFlags(s *options.ServerRunOptions, o Options) error {
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	named := s.Flags()
	for _, name := range named.Order {
		flags.AddFlagSet(named.FlagSets[name])
	}
	ours, err := defaultFlags(o)
	if err != nil {
		return err
	}
	if err := flags.Parse(ours); err != nil {
		return fmt.Errorf("parse the default flags: %w", err)
	}
	if err := flags.Parse(o.Flags); err != nil {
		return &FlagError{Err: err}
	}
	if a := s.Authorization; a.AuthorizationConfigurationFile == "" {
		a.Modes = authorizationModes(a.Modes, o.Inside != nil)
	}
	return refuseOurs(o.Flags)
}

// authorizationModes are the user's, or the default. Real nodes have the rights of nodes and no more.
func authorizationModes(own []string, real bool) []string {
	if len(own) == 0 {
		own = []string{modes.ModeRBAC}
	}
	if !real || slices.Contains(own, modes.ModeNode) || slices.Contains(own, modes.ModeAlwaysAllow) {
		return own
	}
	return append([]string{modes.ModeNode}, own...)
}

// refuseOurs refuses the flags that say where the server listens and stores: they
// would be accepted and change nothing.
func refuseOurs(flags []string) error {
	why := map[string]string{
		"--secure-port":  "the cluster's configuration sets the port",
		"--bind-address": "the server listens only on 127.0.0.1",
		"--etcd-servers": "the cluster has its own etcd",
	}
	for _, flag := range flags {
		name, _, _ := strings.Cut(flag, "=")
		if reason, ok := why[name]; ok {
			return &FlagError{Err: fmt.Errorf("%s cannot be set: %s", name, reason)}
		}
	}
	return nil
}

func defaultFlags(o Options) ([]string, error) {
	flags := []string{
		"--etcd-servers=" + etcd.URL(o.EtcdPrefix),
		"--etcd-prefix=" + o.EtcdPrefix,
		"--tls-cert-file=" + o.Keys.Server,
		"--tls-private-key-file=" + o.Keys.ServerKey,
		"--client-ca-file=" + o.Keys.CA,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + o.Keys.ServiceAccountKey,
		"--service-account-signing-key-file=" + o.Keys.ServiceAccountKey,
		"--service-cluster-ip-range=" + ServiceRange,
		"--allow-privileged=true",
		"--endpoint-reconciler-type=none",                       // see the package doc
		"--kubelet-preferred-address-types=InternalIP,Hostname", // by which package network knows simulated nodes
	}
	flags = append(flags, nodeFlags(o)...)
	if ownAuthentication(o.Flags) {
		return flags, nil
	}
	file := filepath.Join(o.Dir, "authentication.yaml")
	if err := os.WriteFile(file, []byte(healthOnly), 0o600); err != nil {
		return nil, fmt.Errorf("write the authentication configuration: %w", err)
	}
	return append(flags, "--authentication-config="+file), nil
}

// nodeFlags keep real nodes to their own objects, and give the server a way into their kubelets.
func nodeFlags(o Options) []string {
	if o.Inside == nil {
		return nil
	}
	return []string{
		"--enable-admission-plugins=NodeRestriction",
		"--kubelet-client-certificate=" + o.Keys.Admin, "--kubelet-client-key=" + o.Keys.AdminKey,
	}
}

// ownAuthentication says whether the user's flags exclude a configuration file
// of ours: the server refuses the two together.
func ownAuthentication(flags []string) bool {
	return slices.ContainsFunc(flags, func(f string) bool {
		name, _, _ := strings.Cut(f, "=")
		return name == "--anonymous-auth" || name == "--authentication-config" || strings.HasPrefix(name, "--oidc-")
	})
}

// unversioned completes a configuration for paths outside of any API group.
func unversioned(c *rest.Config) *rest.Config {
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return c
}

package apiserver

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/pki"
)

// nowhere leads to no etcd.
type nowhere struct{}

func (nowhere) Dial(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }

// inside stands for real nodes, of which there are none.
type inside struct{ network.Inside }

// TestUsersFlags: a user's flags come last and count, and those that would change nothing are refused with the reason.
func TestUsersFlags(t *testing.T) {
	for _, tt := range []struct {
		flags []string
		want  string // in the error; empty for none
	}{
		{[]string{"--service-cluster-ip-range=10.1.0.0/16"}, ""},
		{[]string{"--no-such-flag"}, "no-such-flag"},
		{[]string{"--max-requests-inflight=many"}, "max-requests-inflight"},
		{[]string{"--secure-port=6443"}, "--secure-port cannot be set: the cluster's configuration sets the port"},
		{[]string{"--bind-address=0.0.0.0"}, "--bind-address cannot be set: the server listens only on 127.0.0.1"},
		{[]string{"--etcd-servers=http://elsewhere"}, "--etcd-servers cannot be set: the cluster has its own etcd"},
		{[]string{"--v=1", "--secure-port", "6443"}, "--secure-port cannot be set"},
	} {
		t.Run(strings.Join(tt.flags, " "), func(t *testing.T) {
			s := options.NewServerRunOptions()
			err := parseFlags(s, Options{Dir: t.TempDir(), EtcdPrefix: "/registry", Flags: tt.flags})
			_, ofFlags := errors.AsType[*FlagError](err)
			if (err != nil) != (tt.want != "") || err != nil && (!ofFlags || !strings.Contains(err.Error(), tt.want)) {
				t.Fatalf("error %v, want one that says %q", err, tt.want)
			}
			if tt.want == "" && s.ServiceClusterIPRanges != "10.1.0.0/16" {
				t.Errorf("Services are in %s", s.ServiceClusterIPRanges)
			}
		})
	}
}

// TestBadCombinationIsTheFlagsFault: what the server itself finds wrong is told as a mistake in the flags, too.
func TestBadCombinationIsTheFlagsFault(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dir := t.TempDir()
	keys, err := pki.Ensure(filepath.Join(dir, "pki"), "test")
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(t.Context(), Options{
		Dir: dir, Listener: listener, Etcd: nowhere{}, EtcdPrefix: "/registry", Keys: keys, Flags: []string{"--max-requests-inflight=-1"},
	})
	if _, ok := errors.AsType[*FlagError](err); !ok || !strings.Contains(err.Error(), "max-requests-inflight") {
		t.Errorf("error %v", err)
	}
}

// TestNodeFlags: real nodes have the rights of nodes; where there are none, nobody gets these.
func TestNodeFlags(t *testing.T) {
	keys := pki.In("/keys")
	if simulated := nodeFlags(Options{Keys: keys}); len(simulated) > 0 {
		t.Errorf("simulated nodes: %q", simulated)
	}
	real := nodeFlags(Options{Keys: keys, Inside: inside{}})
	for _, want := range []string{
		"--enable-admission-plugins=NodeRestriction",
		"--kubelet-client-certificate=" + keys.Admin, "--kubelet-client-key=" + keys.AdminKey,
	} {
		if !slices.Contains(real, want) {
			t.Errorf("real nodes: no %s in %q", want, real)
		}
	}
}

// TestAuthorizationModes: those of the user count alone, but for the rights of real nodes.
func TestAuthorizationModes(t *testing.T) {
	for flag, want := range map[string]struct{ simulated, real string }{
		"--v=1":                               {"RBAC", "Node RBAC"},
		"--authorization-mode=AlwaysAllow":    {"AlwaysAllow", "AlwaysAllow"},
		"--authorization-mode=RBAC":           {"RBAC", "Node RBAC"},
		"--authorization-mode=RBAC,Node":      {"RBAC Node", "RBAC Node"},
		"--authorization-mode=AlwaysDeny":     {"AlwaysDeny", "Node AlwaysDeny"},
		"--authorization-config=/config.yaml": {"", ""},
	} {
		for _, within := range []network.Inside{nil, inside{}} {
			s := options.NewServerRunOptions()
			if err := parseFlags(s, Options{Dir: t.TempDir(), EtcdPrefix: "/registry", Inside: within, Flags: []string{flag}}); err != nil {
				t.Fatal(err)
			}
			expected := want.simulated
			if within != nil {
				expected = want.real
			}
			if got := strings.Join(s.Authorization.Modes, " "); got != expected || flag == "--authorization-config=/config.yaml" && s.Authorization.AreLegacyFlagsSet() {
				t.Errorf("%s, real nodes %v: %q, want %q", flag, within != nil, got, expected)
			}
		}
	}
}

// TestAuthenticationFile: ours is for its owner alone, and gives way to what the user says on the same matter.
func TestAuthenticationFile(t *testing.T) {
	for flag, ours := range map[string]bool{
		"--v=1": true, "--anonymous-auth-of=x": true,
		"--anonymous-auth=false": false, "--authentication-config=/a": false, "--oidc-issuer-url=https://a": false, "--oidc-client-id": false,
	} {
		dir := t.TempDir()
		flags, err := defaultFlags(Options{Dir: dir, EtcdPrefix: "/registry", Flags: []string{flag}})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "authentication.yaml")
		if got := slices.Contains(flags, "--authentication-config="+file); got != ours {
			t.Errorf("%s: our file is used: %v", flag, got)
		}
		info, err := os.Stat(file)
		if ours && (err != nil || info.Mode().Perm()&0o077 != 0) {
			t.Errorf("%s: the file is %v, %v", flag, info, err)
		}
	}
	if _, err := defaultFlags(Options{Dir: filepath.Join(t.TempDir(), "absent")}); err == nil {
		t.Error("a file that cannot be written is not told")
	}
}

// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "example.com/fleet/api/fleet/v1"
	gpuv1beta1 "example.com/fleet/api/gpu/v1beta1"
)

// A site is a cluster that is to be a member, behind a gate.
type site struct {
	*clustertest.Cluster
	account *clustertest.Account // the fleet's
	gate    *gate
	user    client.Client // the administrator's
}

// newSite starts a logical cluster that serves VGPUInstances.
func newSite(t *testing.T) *site {
	t.Helper()
	c := hub.Cluster(t).Isolated(t, clustertest.Controllers(false))
	account := c.Account(t, "../../../config/member/role.yaml")
	return &site{c, account, newGate(t, account.Config().Host), administrator(t, c.Config())}
}

// kubeconfig is what an administrator of the site gives to the fleet.
func (s *site) kubeconfig(t *testing.T) []byte { return kubeconfigOf(t, s.account.Config(), s.gate) }

// kubeconfigOf writes how a cluster is reached through a gate.
func kubeconfigOf(t *testing.T, config *rest.Config, g *gate) []byte {
	t.Helper()
	server, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	server.Host = g.address
	file := api.NewConfig()
	file.Clusters["member"] = &api.Cluster{Server: server.String(), CertificateAuthorityData: config.CAData}
	file.AuthInfos["fleet"] = &api.AuthInfo{Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file.Contexts["fleet"] = &api.Context{Cluster: "member", AuthInfo: "fleet"}
	file.CurrentContext = "fleet"
	data, err := clientcmd.Write(*file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// instance is a VGPUInstance.
func instance(name string) *gpuv1beta1.VGPUInstance {
	return &gpuv1beta1.VGPUInstance{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec:       gpuv1beta1.VGPUInstanceSpec{Model: "a100", MemoryGiB: 10},
	}
}

// waitForInstance waits until the instance is registered as one of a Cluster, with a region.
func (f *fixture) waitForInstance(user client.Client, i *gpuv1beta1.VGPUInstance, c *fleetv1.Cluster, region string) {
	f.Helper()
	f.eventually(i.Name+" is registered", func() (bool, error) {
		err := user.Get(f.Context(), client.ObjectKeyFromObject(i), i)
		return i.Status.Cluster == c.Namespace+"/"+c.Name && i.Status.Region == region, err
	})
}

// A gate is a way to a server that can be closed, which refuses connections, and silenced, which leaves them without an
// answer.
type gate struct {
	address string
	server  string

	mu       sync.Mutex
	silent   *sync.Cond
	mute     bool
	listener net.Listener
	open     map[net.Conn]bool
}

func newGate(t *testing.T, server string) *gate {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{address: "127.0.0.1:0", server: u.Host, open: map[net.Conn]bool{}}
	g.silent = sync.NewCond(&g.mu)
	g.start(t)
	t.Cleanup(g.stop)
	return g
}

// start lets connections through, at the same address as before.
func (g *gate) start(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", g.address)
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.address, g.listener = listener.Addr().String(), listener
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go g.pass(c)
		}
	}()
}

// pass connects c with the server.
func (g *gate) pass(c net.Conn) {
	defer g.forget(c)
	g.mu.Lock()
	g.open[c] = true
	g.mu.Unlock()
	server, err := net.Dial("tcp", g.server)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, c)
		_ = server.Close()
	}()
	_, _ = io.Copy(muted{g, c}, server)
	_ = server.Close()
}

func (g *gate) forget(c net.Conn) {
	_ = c.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, c)
}

// muted is what a server's answers are written to.
type muted struct {
	*gate
	net.Conn
}

// Write holds answers back while the gate is silent.
func (m muted) Write(p []byte) (int, error) {
	m.mu.Lock()
	for m.mute {
		m.silent.Wait()
	}
	m.mu.Unlock()
	return m.Conn.Write(p)
}

// silence has answers held back, or lets them through again.
func (g *gate) silence(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mute = on
	g.silent.Broadcast()
}

// stop refuses connections and ends those there are.
func (g *gate) stop() {
	g.silence(false)
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.listener.Close()
	for c := range g.open {
		_ = c.Close()
	}
}

// connections is how many are open.
func (g *gate) connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open)
}

// goroutines counts those that work for a Cluster, by the label that they have in profiles; all, without a Cluster.
func goroutines(t *testing.T, c *fleetv1.Cluster) (n int) {
	t.Helper()
	if c == nil {
		return runtime.NumGoroutine()
	}
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	label := fmt.Sprintf("%q:%q", "member", c.Namespace+"/"+c.Name)
	for entry := range strings.SplitSeq(profile.String(), "\n\n") {
		count, _, _ := strings.Cut(strings.TrimSpace(entry), " @")
		if i := strings.LastIndex(count, "\n"); i >= 0 {
			count = count[i+1:]
		}
		if !strings.Contains(entry, label) {
			continue
		}
		found, err := strconv.Atoi(count)
		if err != nil {
			t.Fatalf("a profile with %q: %v", count, err)
		}
		n += found
	}
	return n
}

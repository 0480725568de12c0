// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"example.com/fleet/internal/controller/gpu"
)

// A lone provider has one member, reached in a way that no kubeconfig can describe: its writes can be made to fail.
type lone struct {
	cluster.Cluster
	name multicluster.ClusterName
}

func newLone(t *testing.T, name multicluster.ClusterName, config *rest.Config) lone {
	t.Helper()
	cl, err := cluster.New(config, func(o *cluster.Options) { o.Scheme = kinds })
	if err != nil {
		t.Fatal(err)
	}
	return lone{cl, name}
}

// Get implements [multicluster.Provider].
func (l lone) Get(_ context.Context, name multicluster.ClusterName) (cluster.Cluster, error) {
	if name != l.name {
		return nil, multicluster.ErrClusterNotFound
	}
	return l.Cluster, nil
}

// IndexField implements [multicluster.Provider].
func (l lone) IndexField(ctx context.Context, o client.Object, field string, extract client.IndexerFunc) error {
	return l.GetFieldIndexer().IndexField(ctx, o, field, extract)
}

// Start implements [multicluster.ProviderRunnable].
func (l lone) Start(ctx context.Context, aware multicluster.Aware) error {
	if err := aware.Engage(ctx, l.name, l.Cluster); err != nil {
		return err
	}
	return l.Cluster.Start(ctx)
}

// Each write in a member fails once, lost or unanswered, and the instance is registered all the same.
func TestMemberInterrupted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	f := newFixture(t)
	c := f.cluster("lone")
	provider := newLone(t, nameOf(client.ObjectKeyFromObject(c)), s.account.Config())
	mgr, err := mcmanager.New(f.account.Config(), provider, f.options())
	if err != nil {
		t.Fatal(err)
	}
	none := func(multicluster.ClusterName) labels.Set { return nil }
	if err := (&gpu.VGPUInstanceReconciler{Manager: mgr, Labels: none}).SetupWithManager(); err != nil {
		t.Fatal(err)
	}
	clustertest.Run(t, mgr)
	n := 0
	s.account.Interrupt(t, func(*testing.T) {
		n++
		i := instance(fmt.Sprintf("interrupted-%d", n))
		create(t, s.user, i)
		f.waitForInstance(s.user, i, c, "")
	})
}

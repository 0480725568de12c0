package controllers

import (
	"context"
	"fmt"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/kubernetes/pkg/controller/storageversionmigrator"
)

// newStorageVersionMigrator writes the objects anew that a StorageVersionMigration names, so that they are stored in
// the storage version of their CRD. It follows the garbage collector's informers: without that controller, it does
// nothing.
//
// Upstream: cmd/kube-controller-manager/app/storageversionmigrator.go.
func newStorageVersionMigrator(ctx context.Context, d *Deps) (Loop, error) {
	const name = "storage-version-migrator-controller"
	if d.graph == nil {
		return func(context.Context) {}, nil
	}
	client, err := d.client(name)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(d.config(name))
	if err != nil {
		return nil, fmt.Errorf("make the dynamic client of %s: %w", name, err)
	}
	served, err := discovery.NewDiscoveryClientForConfig(d.config(name))
	if err != nil {
		return nil, fmt.Errorf("make the discovery client of %s: %w", name, err)
	}
	crds, err := crdClient(d, name)
	if err != nil {
		return nil, err
	}
	migrations := d.Informers.Storagemigration().V1().StorageVersionMigrations()
	return together(
		storageversionmigrator.NewSVMController(ctx, client, objects, migrations, name, d.Mapper, d.graph).Run,
		storageversionmigrator.NewResourceVersionController(ctx, client, served, d.metadata, migrations, d.Mapper).Run,
		storageversionmigrator.NewCustomResourceController(ctx, client, migrations, crds).Run,
	), nil
}

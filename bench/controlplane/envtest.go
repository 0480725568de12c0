package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/slipway-dev/slipway/bench/sidebyside"
	"github.com/slipway-dev/slipway/bench/widget"
)

// stock starts control planes with controller-runtime's envtest: etcd and an API server, without controllers.
type stock struct {
	folder string // of the programs
	memory *memory
}

func (s stock) contender() sidebyside.Contender {
	return sidebyside.Contender{Name: "envtest", Run: s.run}
}

// run measures from the call of Start, which installs the custom resource as well, until that can be listed.
func (s stock) run(ctx context.Context) (sample sidebyside.Sample, err error) {
	e := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD()}, UseExistingCluster: new(bool)}
	e.ControlPlane.GetAPIServer().Path = filepath.Join(s.folder, "kube-apiserver")
	e.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(s.folder, "etcd")}
	defer func() { err = errors.Join(err, e.Stop()) }()
	start := time.Now()
	config, err := e.Start()
	if err != nil {
		return sample, err
	}
	if err := list(ctx, config); err != nil {
		return sample, err
	}
	return s.memory.sample(time.Since(start))
}

package controlplane

import (
	"context"
	"errors"
	"path/filepath"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Envtest starts control planes with controller-runtime's envtest: etcd and an API server, without controllers.
type Envtest struct {
	Folder string // of the programs
}

// Start returns when envtest says that the control plane is ready.
func (e Envtest) Start(context.Context) (*Plane, error) {
	return withProcesses(func() (*Plane, error) {
		environment := &envtest.Environment{UseExistingCluster: new(bool)}
		environment.ControlPlane.GetAPIServer().Path = filepath.Join(e.Folder, "kube-apiserver")
		environment.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(e.Folder, "etcd")}
		config, err := environment.Start()
		if err != nil {
			return nil, errors.Join(err, environment.Stop())
		}
		return &Plane{Config: rest.CopyConfig(config), stop: environment.Stop}, nil
	})
}

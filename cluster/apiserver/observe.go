package apiserver

import (
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/slipway-dev/slipway/cluster/authorship"
)

// observeStorage has calls learn of the writes of all objects: of built-in kinds, of definitions, of custom resources
// and of API services.
func observeStorage(config *app.Config, calls *authorship.Calls) {
	built, custom, front := config.KubeAPIs.ControlPlane.Generic, config.ApiExtensions, config.Aggregator
	built.RESTOptionsGetter = decorated{built.RESTOptionsGetter, calls.Storage}
	custom.GenericConfig.RESTOptionsGetter = decorated{custom.GenericConfig.RESTOptionsGetter, calls.Storage}
	custom.ExtraConfig.CRDRESTOptionsGetter = decorated{custom.ExtraConfig.CRDRESTOptionsGetter, calls.Storage}
	front.GenericConfig.RESTOptionsGetter = decorated{front.GenericConfig.RESTOptionsGetter, calls.Storage}
}

package clusterctl

import "context"

// Assets returns a folder for KUBEBUILDER_ASSETS: `etcd` and `kube-apiserver` in it are the
// cluster program, which behaves as the stock programs do under these names, and is built if there is none, see
// [Control.Program]. `kubectl` is that of [Control.Kubectl], or compiles it when it is called.
func (c *Control) Assets(ctx context.Context) (dir string, err error) {
	return c.programs.Assets(ctx)
}

// Package setupenvtest keeps folders of the programs that envtest starts, as the tool setup-envtest does, without a
// network: `etcd` and `kube-apiserver` in them are the embedded cluster's program under those names, and `kubectl` is
// its kubectl, or slipway itself until that is compiled.
//
//	tool := setupenvtest.Tool{Store: setupenvtest.Store{Dir: dir}, Programs: control.Assets, Handler: h}
//	selector, err := setupenvtest.ParseSelector("1.37.x")
//	used, err := tool.Use(ctx, setupenvtest.Request{Selector: selector, Platform: setupenvtest.Host()})
//	// used.Path is for KUBEBUILDER_ASSETS
//
// The folders lie where the peer has them, as DIR/k8s/VERSION-OS-ARCH, and both tools can work on one DIR: what the
// peer downloaded, or a user sideloaded, is listed, used and cleaned up here, and is replaced only when a user asks for
// that. One version is to be had "remotely": [Kubernetes], the embedded one. It also stands in for versions that are at
// most [Skew] minors older, because suites name a version that was current once. That is reported as one warning, and
// [Request.Exact] forbids it.
//
// A folder of ours is known by the file .slipway in it, and appears as a whole or not at all. Made again, it stays as
// it is.
package setupenvtest

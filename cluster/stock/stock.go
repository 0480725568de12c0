package stock

import (
	"path/filepath"
	"strings"
	_ "time/tzdata" // CronJobs name time zones; the machine may have none

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of API calls
	_ "k8s.io/component-base/metrics/prometheus/version"  // the kubernetes_build_info metric

	"github.com/slipway-dev/slipway/cluster/collector"
)

// Program runs to its end and returns its exit status. args are a process's arguments, the program's name first.
// Programs may end the process themselves, and read signals.
type Program func(args []string) int

// Lookup finds the program that a process was called as.
func Lookup(name string) (Program, bool) {
	switch strings.TrimSuffix(filepath.Base(name), ".exe") {
	case "etcd":
		return Etcd, true
	case "kube-apiserver":
		return KubeAPIServer, true
	case "kubectl":
		return Kubectl, true
	}
	return nil, false
}

// Etcd is the etcd server. Its sub-commands gateway and grpc-proxy read the process's own arguments, not args.
func Etcd(args []string) int {
	collector.Resume()
	// Packages of Kubernetes add flags to the process's set, which cobra would offer as etcd's.
	pflag.CommandLine = pflag.NewFlagSet(args[0], pflag.ExitOnError)
	etcdmain.Main(args)
	return 0
}

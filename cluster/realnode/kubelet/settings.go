package kubelet

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletoptions "k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

const (
	// port is where the kubelet listens, as everywhere where the node has an address of its own.
	port = 10250
	// maxPods is how many pods a node runs unless its capacity says otherwise.
	maxPods = 250
	// restartPeriod bounds the wait before a container that has ended is started again: a developer waits with it.
	restartPeriod = time.Second
	// leaseSeconds is as long as that of simulated nodes, so that the loss of a node is noticed as soon. A quarter of
	// it passes between two signs of life.
	leaseSeconds = 8
	// syncPeriod is how often a pod is looked at that nothing has happened to, half of it again at most. ConfigMaps and
	// Secrets in volumes follow with it: an operator that keeps its certificate in one waits for that. Fifty idle pods
	// take 3% of a processor so, and 2% with five seconds.
	syncPeriod = 2 * time.Second
)

// files are the node's keys and certificates, which the kubelet wants to read from files.
type files struct{ authority, certificate, key string }

func writeFiles(keysFolder string, c nodeconfig.Config) (files, error) {
	if err := os.MkdirAll(keysFolder, 0o700); err != nil {
		return files{}, fmt.Errorf("make the folder for keys: %w", err)
	}
	f := files{filepath.Join(keysFolder, "ca.crt"), filepath.Join(keysFolder, "kubelet.crt"), filepath.Join(keysFolder, "kubelet.key")}
	err := errors.Join(
		os.WriteFile(f.authority, c.Authority, 0o600),
		os.WriteFile(f.certificate, c.Serving.Certificate, 0o600),
		os.WriteFile(f.key, c.Serving.Key, 0o600),
	)
	if err != nil {
		return files{}, fmt.Errorf("write keys: %w", err)
	}
	return f, nil
}

// settings are the kubelet's flags and configuration.
func (n *node) settings() (*kubeletoptions.KubeletServer, error) {
	config, err := kubeletoptions.NewKubeletConfiguration()
	if err != nil {
		return nil, fmt.Errorf("the kubelet's defaults: %w", err)
	}
	flags := kubeletoptions.NewKubeletFlags()
	flags.RootDirectory, flags.CertDirectory = n.ground.folders.root, filepath.Join(n.ground.folders.root, "pki")
	flags.HostnameOverride, flags.NodeIP, flags.NodeLabels, flags.CloudProvider = n.Name, n.ground.nodeIP, n.Labels, n.ground.cloud
	flags.MinimumGCAge = metav1.Duration{}
	config.RegisterNode = true
	config.RegisterWithTaints = n.Taints
	config.ProviderID = "slipway://" + n.Name
	n.listen(config)
	n.beFast(config)
	config.EnableSystemLogHandler = n.Plain == nil // they are the machine's
	config.PodLogsDir = n.ground.folders.logs
	config.ClusterDomain, config.ClusterDNS = n.Domain, []string{n.DNS.String()}
	if config.ResolverConfig, err = writeResolver(n.ground.folders.root, n.DNS); err != nil {
		return nil, err
	}
	config.MaxPods = maxPods
	if pods, ok := n.Capacity["pods"]; ok {
		config.MaxPods = int32(pods.Value())
	}
	config.SeccompDefault = true
	config.CgroupsPerQOS = true // the kubelet destroys the groups of pods that have ended: see podGroups
	// All of this is about cgroups, the host's kernel or its firewall.
	config.EnforceNodeAllocatable, config.CgroupRoot = nil, ""
	config.FailCgroupV1, config.FailSwapOn, config.ProtectKernelDefaults, config.MakeIPTablesUtilChains = false, false, false, false
	config.EvictionHard, config.LocalStorageCapacityIsolation = map[string]string{}, false
	config.EnableControllerAttachDetach = false
	config.VolumeStatsAggPeriod = metav1.Duration{Duration: -1}
	return &kubeletoptions.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *config}, nil
}

// writeResolver writes what pods in the node's network and those with the dnsPolicy Default find as /etc/resolv.conf.
// The host's servers cannot be reached from here. The cluster's answers for names outside, or reports that there is no
// way to them.
func writeResolver(folder string, server netip.Addr) (path string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("make the kubelet's folder: %w", err)
	}
	path = filepath.Join(folder, "resolv.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, "nameserver %s\n", server), 0o644); err != nil {
		return "", fmt.Errorf("write the node's resolver configuration: %w", err)
	}
	return path, nil
}

// listen says where the kubelet's own server is, and that it asks the API server whom to let in.
func (n *node) listen(c *kubeletconfig.KubeletConfiguration) {
	c.Address, c.Port, c.ReadOnlyPort, c.HealthzPort = n.ground.listen, n.ground.port, 0, 0
	c.Authentication.Anonymous.Enabled = false
	c.Authentication.Webhook.Enabled = true
	c.Authentication.X509.ClientCAFile = n.files.authority
	c.Authorization.Mode = kubeletconfig.KubeletAuthorizationModeWebhook
}

// beFast changes what is slow for the sake of large clusters.
func (n *node) beFast(c *kubeletconfig.KubeletConfiguration) {
	c.SyncFrequency.Duration = syncPeriod
	c.NodeLeaseDurationSeconds = leaseSeconds
	c.ImageGCHighThresholdPercent = 100 // never: a developer's disk may be as full as he likes
	c.CrashLoopBackOff.MaxContainerRestartPeriod = &metav1.Duration{Duration: restartPeriod}
	c.SerializeImagePulls, c.RegistryPullQPS = false, 0
	c.EventRecordQPS, c.EventBurst = 0, 0
	c.ShutdownGracePeriod, c.ShutdownGracePeriodCriticalPods = metav1.Duration{}, metav1.Duration{}
}
